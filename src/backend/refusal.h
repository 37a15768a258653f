// Refusal: what an error reply speaks of. "OOM" is said of the server: the next key would be
// refused as well, and the move must end. "Bad data format" is said of one value: that key stays
// behind, and the rest moves. To take the first for the second once left thousands of keys behind.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "wire/resp.h"

namespace cleave::backend {

// Of whom an error reply speaks.
enum class Blame : std::uint8_t {
  kServer,  // it would say the same of any key: full, a replica, loading, busy, not allowed, ...
  kValue,   // of the value in hand alone
};

// By the words of an error reply, without the "-". What is not known is said of the server: the
// safe choice, since nothing is then left behind or cut around.
Blame blame_of(std::string_view error);

// The first error among the replies that is said of the server; nullptr: none.
const wire::Reply* server_refusal(std::span<const wire::Reply> replies);

// The version of the format in which a server writes values: the two bytes before the eight of the
// checksum at the end of any DUMP. 0: not a payload.
std::uint16_t rdb_version_of(std::string_view payload);

// Whose keys the commands were about.
enum class Keys : std::uint8_t { kOwn, kOfClients };

// The command that gives a user what error replies (NOPERM) say that it lacks; "" when none says
// so.
std::string missing_rights(std::string_view user, std::span<const wire::Reply> replies, Keys keys);

}  // namespace cleave::backend
