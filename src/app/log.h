// Log lines for people, on standard error. Never on the data path.
//
// Threads: any.
#pragma once

#include <string>

namespace cleave::app {

void log_info(const std::string& line);
void log_error(const std::string& line);

}  // namespace cleave::app
