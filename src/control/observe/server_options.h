// ServerOptions: how the servers are met.
//
// Threads: values.
#pragma once

#include "backend/pipe.h"

namespace cleave::control {

struct ServerOptions {
  backend::Credentials credentials{};
  bool mark_new_servers = false;  // `up`: empty children are marked without asking
};

}  // namespace cleave::control
