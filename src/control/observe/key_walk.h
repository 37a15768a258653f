// walk_keys: one walk over a server's keys by SCAN, page by page with a pause after each, so that
// clients get their turn. A key that is there all the while is met, one may be met twice; the
// router's own keys are left out.
//
// Threads: one loop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/store.h"
#include "base/clock.h"
#include "net/loop.h"
#include "ring/view/view.h"

namespace cleave::control {

enum class WalkOn : std::uint8_t { kYes, kNo };
enum class WalkEnd : std::uint8_t { kAllMet, kStopped };

struct KeyWalk {
  net::Loop& loop;
  std::shared_ptr<backend::Store> store;
  milliseconds pause{1};
  std::function<ring::RingSnapshot()> view;  // the present one
  // The keys of a page, and the view when it was asked for.
  std::function<WalkOn(const std::vector<std::string>& keys, const ring::RingSnapshot& before)>
      page;
  // Runs once, unless the owner of `alive` is gone. Errors: the server's.
  std::function<void(Result<WalkEnd>)> done;
  std::weak_ptr<void> alive;
};

void walk_keys(KeyWalk walk);

}  // namespace cleave::control
