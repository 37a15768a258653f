// CommandKinds: what a server's own command counters mean, by name, for the books of who sent what.
//
// Threads: values.
#pragma once

#include <set>
#include <string>

#include "route/command_table.h"

namespace cleave::control {

using CommandNames = std::set<std::string, std::less<>>;

struct CommandKinds {
  CommandNames keyed;   // names a key: what routers count
  CommandNames writes;  // of these: may change one
  // Counted by the server as more commands than were sent (a script, a module's command, FLUSHALL
  // with the marker behind it): an interval with one of them says nothing of who sent the rest.
  CommandNames opaque;
};

CommandKinds kinds_of(const route::CommandTable& table);

}  // namespace cleave::control
