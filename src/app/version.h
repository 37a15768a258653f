// The version of the program.
#pragma once

namespace cleave::app {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace cleave::app
