// Which argument of a command is its first key, and whether it writes: enough for traces. The
// router itself asks the servers (route/); a trace has no server to ask.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heat/recorder.h"

namespace cleave::rehearse {

// What a command of a trace does.
struct TraceCommand {
  std::size_t key = 1;  // index of its arguments, the name being 0; 0: it has none
  heat::Access access = heat::Access::kWrite;
};

// `arguments` with the name first, in any case. A key that is not there is none.
TraceCommand trace_command(std::span<const std::string> arguments);

// What the operation of a CSV line does: a command's name, or read or write.
heat::Access trace_access(std::string_view operation);

}  // namespace cleave::rehearse
