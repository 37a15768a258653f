// BigKeys: what one move knows of its keys that are copied in pieces (protocol rule 27).
//
//   found --> watched: two takes --> copied as a whole --> by its elements, round by round
//                                        ^                       |
//                                        +----- marked whole ----+
//
// Two takes, for with the first each router begins to note elements, and what was sent before that
// marks the whole key once more when it finishes.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/dirty.h"

namespace cleave::migrate {

class BigKeys {
 public:
  // The key is to be copied in pieces, and no whole copy of it is there.
  void found(const std::string& key);
  // What became of a whole copy. `slow`: it took longer than a fence may be held.
  void copied(const std::string& key, bool slow);

  bool contains(std::string_view key) const { return keys_.contains(key); }
  // For a take that is asked for now.
  std::vector<std::string> watch();
  // Every router has answered that take.
  void watched();

  // A whole copy of it is worth while now.
  bool is_ready(std::string_view key) const;
  // A fence is no place for a whole copy of it.
  bool is_slow(std::string_view key) const;

  // Looks at what a round found. The keys that will never be at rest, and why; `few` elements do no
  // harm.
  std::map<std::string, std::string> restless(const Dirty& dirty, std::size_t few);

 private:
  struct Key {
    std::uint32_t takes = 0;  // answered, that named it
    bool asked = false;       // by the take under way
    bool copied = false;
    bool slow = true;  // until a copy has shown that it is not
    std::uint32_t whole_rounds = 0;
    std::uint32_t long_rounds = 0;  // in which its elements did not get fewer
    std::size_t elements = 0;       // in the round before
  };

  std::map<std::string, Key, std::less<>> keys_;
};

}  // namespace cleave::migrate
