// What marks keys and connections at a server as the router's own. One place, because both sides of
// a rule must agree: what one layer names, another refuses, passes over or ends.
#pragma once

#include <array>
#include <string_view>

namespace cleave {

// Keys: the ownership marker, hidden copies. Clients can neither see nor change them, and a move
// never copies or removes them as data.
inline constexpr std::string_view kOwnKeyPrefix = "cleave:{";

// Of them, those that stay at a server for good: what the pool knows it by. They are of no range,
// no client counts them, and a client's FLUSHALL does not end them.
inline constexpr std::array<std::string_view, 2> kLastingKeys{"cleave:{owner}", "cleave:{ring}"};

// Connections are named after it and their session; a sweep ends those of strangers (protocol rules
// 5 and 7).
inline constexpr std::string_view kConnectionPrefix = "cleave:";

}  // namespace cleave
