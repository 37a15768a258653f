// What the router sends to every node for a client's FLUSHALL, FLUSHDB or DBSIZE, so that its own
// lasting keys (base/own_names.h) are neither lost nor counted.
//
// Pure. Threads: any.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cleave::proxy {

// Why the client's flush cannot be sent, without '-'; empty: it can.
std::string flush_refusal(std::span<const std::string_view> args);

// Empties database 0, in one step, of all but the lasting keys; the reply is +OK. `how`: the
// client's arguments behind the name (ASYNC, SYNC or none).
//
// It is a script, because a server over its maxmemory takes neither a SET nor, within MULTI, any
// command at all; a script may write whatever it likes once it has begun with a command that frees
// memory. And only what was read in the same step can be put back as it was.
std::string flush_command(std::span<const std::string_view> how);

// EXISTS of the lasting keys, to be taken off a DBSIZE.
std::string count_lasting_command();

}  // namespace cleave::proxy
