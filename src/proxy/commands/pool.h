// Pool: objects that are used again instead of being freed.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace cleave::proxy {

// Keeps at most `kept_max` of them for later.
template <class T>
class Pool {
 public:
  explicit Pool(std::size_t kept_max) : kept_max_(kept_max) {}

  template <class... Args>
  T* get(Args&... args) {
    if (free_.empty()) return std::make_unique<T>(args...).release();
    T* object = free_.back().release();
    free_.pop_back();
    return object;
  }

  // The object is as new afterwards.
  void put(T* object) {
    std::unique_ptr<T> owned(object);
    if (free_.size() >= kept_max_) return;
    owned->reset();
    free_.push_back(std::move(owned));
  }

 private:
  std::size_t kept_max_;
  std::vector<std::unique_ptr<T>> free_;
};

// Of requests and commands a worker keeps so many for later; together some MiB.
inline constexpr std::size_t kPoolKept = 8'192;

}  // namespace cleave::proxy
