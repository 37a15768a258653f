// The commands below `cleave demo` that need no servers, one function each.
#pragma once

#include "app/cli.h"

namespace cleave::app {

void add_demo_auto_split(Cli& cli, CLI::App& group);
void add_demo_churn(Cli& cli, CLI::App& group);

}  // namespace cleave::app
