// Picture: how hot everything is now, as the planner and people see it. A plain value, made by the
// leader's ledger (heat/ledger.h) or by a test.
//
// Loads are in nanoseconds of estimated server time per second: 1'000'000'000 keeps one core busy.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "ring/token_range.h"

namespace cleave::heat {

// The same load over several times. What each is for: docs/ARCHITECTURE.md, "Heat".
struct Load {
  std::uint64_t tick = 0;  // since the last tick: did it just change?
  std::uint64_t mean = 0;  // of the last 10 s: detection, and the size of a piece
  std::uint64_t slow = 0;  // half-life 30 s: is it there to stay?
  std::uint64_t peak = 0;  // highest 10 s mean of the last 10 minutes: merging

  Load& operator+=(const Load& more) {
    tick += more.tick;
    mean += more.mean;
    slow += more.slow;
    peak += more.peak;  // an upper bound: the two need not have peaked together
    return *this;
  }
  friend bool operator==(const Load&, const Load&) = default;
};

// One entry of the view that the picture was made for.
struct RangeLoad {
  ring::TokenRange range = {};
  NodeId node = {};
  Load load = {};
  std::uint64_t requests = 0;  // per second, mean of the last 10 s
  std::uint64_t writes = 0;    // of these

  friend bool operator==(const RangeLoad&, const RangeLoad&) = default;
};

// What the samples of the last 30 s say of one token. Scaled so that the tokens of a range that was
// sampled add up to the range's mean.
struct TokenLoad {
  Token token;
  std::uint64_t load = 0;
  std::uint32_t samples = 0;  // how many it rests on: relative error about 1 / sqrt(samples)

  friend bool operator==(const TokenLoad&, const TokenLoad&) = default;
};

// All ranges of one node.
struct NodeLoad {
  NodeId node = {};
  Load load = {};
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;

  friend bool operator==(const NodeLoad&, const NodeLoad&) = default;
};

// The true load is in [load - error, load].
struct KeyLoad {
  std::string key;  // at most 128 bytes of it
  Token token;
  NodeId node;
  std::uint64_t load = 0;
  std::uint64_t error = 0;

  friend bool operator==(const KeyLoad&, const KeyLoad&) = default;
};

// One recorder that the loads come from.
struct Source {
  SessionId session;
  std::uint64_t recorder = 0;
  nanoseconds age{0};      // since its last report
  bool silent = false;     // longer than a recorder may be: its last known rates fade
  std::uint64_t load = 0;  // what it contributes

  friend bool operator==(const Source&, const Source&) = default;
};

// Reports that were not believed, by reason, since the ledger began.
struct Refused {
  std::uint64_t duplicated = 0;  // its sequence was seen before
  std::uint64_t absurd = 0;      // numbers that cannot be
  std::uint64_t stale = 0;       // covers so long a time that its mean says nothing of now

  friend bool operator==(const Refused&, const Refused&) = default;
};

struct Picture {
  Epoch epoch = {};                    // of the view
  nanoseconds observed{0};             // how long the ledger has been watching
  std::vector<RangeLoad> ranges = {};  // each entry of the view, in token order
  std::vector<TokenLoad> tokens = {};  // sorted by token
  std::vector<NodeLoad> nodes = {};    // sorted by id; each node of the document
  std::vector<KeyLoad> keys = {};      // heaviest first
  std::vector<Source> sources = {};    // sorted
  Refused refused = {};

  friend bool operator==(const Picture&, const Picture&) = default;
};

// Load of all ranges.
std::uint64_t total_mean(const Picture& picture);

// Share of the load, in millionths, that comes from silent sources: how far the picture is a guess.
std::uint32_t silent_ppm(const Picture& picture);

// The name of a token that is hot, or "" where none is known.
std::string key_at(const Picture& picture, Token token);

}  // namespace cleave::heat
