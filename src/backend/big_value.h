// Copies one big value in pieces: read piece by piece, written into a hidden key, renamed at the
// end. Neither server is stopped for longer than one piece takes.
//
// The pieces are not one moment's: whoever changes the key meanwhile has it noted as dirty, and it
// is copied again (protocol rules 10 and 16). Leftovers of a copy that was broken off lie under
// `cleave:{move}` and die in the next purge (rule 13).
//
// Threads: the stores' loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/redis_store.h"
#include "backend/store.h"
#include "base/limits.h"

namespace cleave::backend {

// Hidden keys of copies under way.
inline constexpr std::string_view kMovePrefix = "cleave:{move}";

// What became of one big value.
struct BigCopy {
  std::uint64_t bytes = 0;  // written
  std::string unmovable;    // not empty: it stays where it is, for this reason
};

// Strings, lists, sets, hashes and sorted sets; others (streams, module types) are unmovable when
// big. Errors: the servers'.
void copy_big(RedisStore& source, RedisStore& destination, const Item& item, const Limits& limits,
              std::weak_ptr<void> alive, std::function<void(Result<BigCopy>)> done);

}  // namespace cleave::backend
