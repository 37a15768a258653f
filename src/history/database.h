// The SQLite file behind the history: its tables, and what one connection does with them. Blocking;
// for the store's own thread.
//
//   heat       (resolution, at, kind, id) -> load, requests, writes      kind 0 = node, 1 = strip
//   decisions  number -> at, body
//
// Old heat is kept at a coarser resolution: 10 s for two hours, 1 minute for a day, 10 minutes for
// seven days. Decisions are kept for seven days. The file never grows beyond its limit: when it is
// full, the oldest goes first.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "history/heat_point.h"
#include "sqlite/connection.h"

namespace cleave::history {

// As it was handed in. Numbers grow and do not return.
struct StoredDecision {
  std::uint64_t number = 0;
  UnixMillis at = {};
  std::string body = {};  // JSON

  friend bool operator==(const StoredDecision&, const StoredDecision&) = default;
};

class Database {
 public:
  // Creates the file where there is none. Errors: kInvalid for a file that is something else or of
  // a newer program, kUnavailable when it cannot be opened or is in use. All name the path.
  static Result<Database> open(const std::string& path, std::uint64_t bytes_max);

  // Errors of all below: kExhausted when disk or limit are full and nothing older could be thrown
  // away, else kUnavailable. Nothing is half done.
  Result<void> add(const HeatPoint& point);
  Result<void> add(UnixMillis at, const std::string& decision);

  // Points that begin in [from, to), oldest first, at the finest resolution that is kept and gives
  // at most `points_max` points.
  Result<std::vector<HeatPoint>> heat(UnixMillis from, UnixMillis to, std::size_t points_max);

  // Those made at `since` or later, oldest first; the newest `count_max` of them.
  Result<std::vector<StoredDecision>> decisions(UnixMillis since, std::size_t count_max);

  // Makes old heat coarser and throws away what is older than seven days.
  Result<void> prune(UnixMillis now);

 private:
  explicit Database(std::string path) : connection_(path), path_(std::move(path)) {}

  Result<void> run(const std::string& sql);
  Result<void> coarsen(UnixMillis before, milliseconds from, milliseconds to);
  Result<void> drop_oldest();
  std::unexpected<Error> error(const std::string& what) const;

  sqlite::Connection connection_;
  std::string path_;
};

}  // namespace cleave::history
