// What the configuration file says and the ring document does not: the file only seeds the ring, so
// after the first start a changed line of it does nothing. Whoever changed it must be told.
//
// Pure. Threads: any.
#pragma once

#include <string>
#include <vector>

#include "app/config/config.h"
#include "ring/document/document.h"

namespace cleave::app {

// One sentence for each difference, with the command that does what was perhaps wanted.
std::vector<std::string> ignored_settings(const Config& config, const ring::Document& document);

}  // namespace cleave::app
