// Store: heat and decisions kept in a local SQLite file, on a thread of its own. History is
// optional: it never blocks, slows or stops whoever hands something to it.
//
//   any thread                    the store's thread
//     append / query --queue-->     open, write, read, prune
//     callbacks      <--post---     answers and troubles
//
// When the file cannot be written (a full disk, no permission, another program's file), what is
// handed in is dropped and counted, the trouble is told once, and the file is tried again every ten
// seconds.
//
// Threads: all functions may be called from any thread; callbacks run wherever `post` puts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "history/database.h"
#include "history/heat_point.h"

namespace cleave::history {

class Store {
 public:
  template <class T>
  using Done = std::function<void(Result<T>)>;

  struct Options {
    std::string path;
    const Clock& clock;
    // Runs its argument on the caller's loop. Called from the store's thread; must not block.
    std::function<void(std::function<void()>)> post;
    // A new trouble (posted), once until it is over. May be empty.
    std::function<void(const Error&)> trouble = {};
    std::uint64_t bytes_max = std::uint64_t{256} << 20U;
    std::size_t queue_max = 1'024;   // more waiting: appends are dropped, queries are refused
    std::size_t points_max = 2'000;  // of one answer
    milliseconds retry{10'000};
    milliseconds prune_every{60'000};
  };

  explicit Store(Options options);
  // Writes what waits, then ends. Answers that were not posted yet are not posted any more.
  ~Store();

  void append(HeatPoint point);
  void append_decision(UnixMillis at, std::string json);

  // See Database. Errors also: kExhausted when too much waits.
  void heat(UnixMillis from, UnixMillis to, Done<std::vector<HeatPoint>> done);
  void decisions(UnixMillis since, std::size_t count_max, Done<std::vector<StoredDecision>> done);

  // Appends that were lost, since the start.
  std::uint64_t dropped() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cleave::history
