// RefusalBook: which servers said no to a move, in their own words, and until when nothing is tried
// with them again. The rest doubles with each refusal, and is over once a move went well.
//
// Pure: time is an argument. Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "backend/store.h"
#include "base/clock.h"
#include "base/ids.h"

namespace cleave::control {

// One refusal: by whom, as which end of the move.
struct Refused {
  NodeId node;
  backend::End end = backend::End::kSource;
  std::string words;
};

class RefusalBook {
 public:
  static constexpr milliseconds kFirst{10'000};
  static constexpr milliseconds kMost{600'000};

  // How long the node rests as that end.
  milliseconds note(const Refused& refused, Instant now);
  // A move went well.
  void forget(NodeId node, backend::End end) { entries_.erase({node, end}); }
  // What it said, while it rests; else "".
  std::string words(NodeId node, backend::End end, Instant now) const;

 private:
  struct Entry {
    std::string words;
    milliseconds rest{0};
    Instant until{0};
  };
  std::map<std::pair<NodeId, backend::End>, Entry> entries_;
};

}  // namespace cleave::control
