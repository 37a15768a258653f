// Preflight: whether the two servers of a move can do what it will ask of them, looked at before it
// begins: the source's format of values is one that the destination reads, the user may run every
// command that a move sends, the destination takes writes, and has room.
//
// It tries it: a value of our own is dumped at the source and restored at the destination under a
// hidden key, which is then removed. So whatever the destination would say to the first copy, it
// says now, before the document has changed.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "backend/redis_store.h"
#include "backend/store.h"
#include "control/moves/refusal_book.h"

namespace cleave::control {

// One server of the move and what people call it. Weak: what waits in a store for a reply holds the
// preflight, and neither would ever go.
struct PreflightEnd {
  std::weak_ptr<backend::RedisStore> store;
  std::string name;
};

// What is looked at.
struct PreflightOrder {
  PreflightEnd source;
  PreflightEnd destination;
  backend::Store::KeyFilter in_range;  // keys that will move
  std::uint32_t share_ppm = 0;         // of the source's tokens that will move
};

// What was found. An empty `why`: nothing speaks against the move.
struct PreflightResult {
  std::string why;
  backend::End at = backend::End::kDestination;  // whose fault it is
};

// `done` runs once, unless `alive` is gone.
void preflight(PreflightOrder order, std::weak_ptr<void> alive,
               std::function<void(PreflightResult)> done);

}  // namespace cleave::control
