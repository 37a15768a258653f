// Scene: what is asked of the pool in one second, as a workload (workload.h) sets it.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/rng.h"

namespace cleave::rehearse {

// A key, or a name that is asked for though no key is there.
struct SceneKey {
  std::string name = {};
  Token token = {};
  std::uint64_t bytes = 0;   // with the server's own overhead; 0 = no such key
  std::uint64_t weight = 0;  // how much is asked of it, relative to the other keys
};

struct Scene {
  std::vector<SceneKey> keys = {};   // sorted by token, then name; the names never change
  std::uint64_t load = 0;            // offered by all clients: nanoseconds of server time a second
  std::uint32_t read_ppm = 950'000;  // of it that reads; of a key that is absent, everything
};

// "key:0", "key:1", ... all with the same bytes and nothing asked of them. Tokens as the ring's
// scheme gives them.
std::vector<SceneKey> make_keys(std::size_t count, std::uint64_t bytes);

// A key of that name. Of names with a hash tag only the tag is hashed.
SceneKey make_key(std::string name, std::uint64_t bytes);

// By token, as Scene::keys must be.
void sort_keys(std::vector<SceneKey>& keys);

// 0 .. count - 1 in random order.
std::vector<std::uint32_t> random_order(std::size_t count, Rng& rng);

// Every key is asked for alike, by so much that small parts and large multiples of it are exact.
inline constexpr std::uint64_t kUsualWeight = 1'000'000;
void set_uniform(Scene& scene);

// Weight of the rank (from 0) by Zipf's law: 2^50 / (rank + 1)^exponent, at least 1.
std::uint64_t zipf_weight(std::size_t rank, double exponent);

}  // namespace cleave::rehearse
