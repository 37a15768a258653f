// Copies one big value in pieces: read piece by piece, written into a hidden key, renamed at the
// end; and afterwards, as often as needed, only elements of it (protocol rule 27). Neither server
// is stopped for longer than one piece takes, and a piece is bounded in bytes: how many elements
// make one is told by the value's mean, and by the pieces before. An element larger than a piece
// travels alone.
//
// The pieces are not one moment's: whoever changes the key meanwhile has it, or what he changed of
// it, noted as dirty, and that is copied again (protocol rules 10 and 16). Leftovers of a copy that
// was broken off lie under `cleave:{move}` and die in the next cleaning (rule 23).
//
// Expiry of hash fields travels with the fields (Redis 7.4, Valkey 9). How long a key has not been
// used does not: only RESTORE sets that, and RENAME resets it. A key in pieces arrives as used just
// now.
//
// Threads: the stores' loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backend/redis_store.h"
#include "backend/store.h"
#include "base/limits.h"
#include "base/mutation.h"
#include "base/touched.h"

namespace cleave::backend {

// Hidden keys of copies under way.
inline constexpr std::string_view kMovePrefix = "cleave:{move}";

// What became of one big value: at most one of the last three is set.
struct BigCopy {
  nanoseconds busy{0};         // how long it took, waits for the budget left out
  std::uint64_t bytes = 0;     // written
  std::string unmovable = {};  // not empty: it stays where it is, for this reason
  bool changed = false;        // it is of another type now, or gone: to be read anew
  std::int64_t more_keys = 0;  // that the destination has now
  std::string_view type = {};  // as TYPE has it
  std::int64_t expires_at_ms = 0;
  struct Failure {
    End at = End::kSource;
    Error why;
  };
  std::optional<Failure> failure = {};  // of a server
};

// The two ends, and what one copy needs beside them.
struct BigCopying {
  RedisStore& source;
  RedisStore& destination;
  net::Loop& loop;
  Limits limits;
  std::uint64_t element_bytes_max = 0;
  Mutations mutations;
  std::weak_ptr<void> alive;
  // Called with the bytes of each piece; how long to wait before the next.
  std::function<nanoseconds(std::uint64_t bytes)> spent;
};

// Strings, lists, sets, hashes, sorted sets and streams; others (module types) are unmovable when
// big. `done` runs once, unless `alive` is gone.
void copy_big(BigCopying ends, const Item& item, std::function<void(BigCopy)> done);

// A whole copy that was put in place before: what elements are copied over.
struct BigBase {
  std::string_view type;
  std::int64_t expires_at_ms = 0;
};

// Copies these elements over the base: those that the source does not have are removed. "Changed"
// means that elements will not do, and the key is to be copied as a whole: it is another key now,
// or may be (rule 27 d). Requires: the source evicts nothing.
void copy_elements(BigCopying ends, const BigBase& base, const Touched& touched,
                   std::function<void(BigCopy)> done);

}  // namespace cleave::backend
