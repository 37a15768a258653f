// Fifo: a queue in one ring of memory, for queues that grow and shrink all day without allocating.
//
// Threads: one owner. Cost: O(1); allocates only when it has to grow (doubling). Memory goes back
// when it has become empty and was large.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/check.h"

namespace cleave::backend {

// Requires: T is cheap to move and default-constructible.
template <class T>
class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return ring_.size(); }

  // Counted from the front. Requires: index < size().
  T& operator[](std::size_t index) { return ring_[(first_ + index) & (ring_.size() - 1)]; }
  const T& operator[](std::size_t index) const {
    return ring_[(first_ + index) & (ring_.size() - 1)];
  }
  T& front() { return ring_[first_]; }

  void push(T value) {
    if (size_ == ring_.size()) grow();
    (*this)[size_] = std::move(value);
    ++size_;
  }

  void pop() {
    CHECK(size_ > 0);
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
    if (size_ == 0 && ring_.size() > kKeptMax) {
      std::vector<T>().swap(ring_);
      first_ = 0;
    }
  }

 private:
  static constexpr std::size_t kFirst = 64;
  static constexpr std::size_t kKeptMax = 16'384;  // an empty queue keeps no more than this

  void grow() {
    std::vector<T> larger(ring_.empty() ? kFirst : ring_.size() * 2);  // a power of two
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    ring_.swap(larger);
    first_ = 0;
  }

  std::vector<T> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace cleave::backend
