// How many keys clients can read: those of all servers, without the hidden keys and without copies
// of moves (control/observe/copy_counts.h).
//
// Every server is asked on the connection that moves use, so that its answer stands at one point of
// the copying. Where a move was committed in between, its range may have been counted on both
// servers or on none, and all are asked again.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/redis_store.h"
#include "base/result.h"
#include "control/observe/copy_counts.h"

namespace cleave::control {

// Whom to ask. Weak: what waits in a store for a reply holds the count, and neither would ever go.
struct KeyCountOf {
  NodeId node = {};
  std::weak_ptr<backend::RedisStore> store;
};

// `done` runs once, unless a store goes while it is asked (the term ends). Errors: the first
// server's; kUnavailable when moves are committed too fast.
void count_keys(std::vector<KeyCountOf> servers, std::shared_ptr<CopyCounts> copies,
                std::function<void(Result<std::uint64_t>)> done);

}  // namespace cleave::control
