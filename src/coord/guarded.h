// guarded: a callback that does nothing once its owner is gone.
#pragma once

#include <memory>
#include <utility>

namespace cleave::coord {

// `alive` is a member of the owner that dies with it.
template <class Function>
auto guarded(const std::shared_ptr<void>& alive, Function function) {
  return [weak = std::weak_ptr(alive), function = std::move(function)](auto&&... args) mutable {
    if (!weak.expired()) function(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace cleave::coord
