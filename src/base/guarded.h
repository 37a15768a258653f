// guarded: a callback that does nothing once its owner is gone.
#pragma once

#include <memory>
#include <utility>

#include "base/check.h"

namespace cleave {

// Runs `call` only while somebody holds `alive`. An owner keeps `alive` as a member and hands
// guarded callbacks to whatever may outlive it. One thread: the owner's.
template <class Call>
auto guarded(const std::shared_ptr<void>& alive, Call call) {
  CHECK(alive != nullptr);  // else no call would ever come
  return [weak = std::weak_ptr<void>(alive), call = std::move(call)](auto&&... args) mutable {
    // Not locked for the call: the owner may go away in it, and later checks must see that.
    if (!weak.expired()) call(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace cleave
