// Hash tags by the Redis Cluster rule (Redis Cluster specification, "Hash tags").
#pragma once

#include <string_view>

namespace cleave::ring {

// The part of the key that is hashed: what lies between the first '{' and the first '}' after it
// if that is not empty, else the whole key. Keys of one tag share a token and are never cut apart.
std::string_view hash_tag(std::string_view key);

}  // namespace cleave::ring
