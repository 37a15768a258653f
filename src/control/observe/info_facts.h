// What a server's INFO tells of keys that no router looks for: other databases that hold some, and
// whether scripts or functions were run, which may write keys that they do not name.
//
// Pure. Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/orders/status.h"

namespace cleave::control {

// The lines "dbN:keys=..." of INFO keyspace, but for database 0.
std::vector<OtherDatabase> other_databases(std::string_view keyspace);

// The commands of INFO commandstats that run a script or a function which may write, those that
// were called. A client's FLUSHALL through a router is one EVAL too.
std::vector<ScriptCalls> script_calls(std::string_view command_stats);

// "database 3 (500 keys), database 7 (1 key)"
std::string describe(std::span<const OtherDatabase> databases);
// "eval 120 times, fcall once"
std::string describe(std::span<const ScriptCalls> scripts);

}  // namespace cleave::control
