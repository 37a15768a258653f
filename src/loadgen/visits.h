// Visits: every key once, and again those that failed. For filling and sweeping.
//
// Threads: one owner.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace cleave::loadgen {

class Visits {
 public:
  Visits() = default;
  explicit Visits(std::uint32_t keys) : keys_(keys) {}

  // The next key to visit; it is `done` or has to be visited `again`. nullopt: none now.
  std::optional<std::uint32_t> next() {
    if (next_ < keys_) return next_++;
    if (again_.empty()) return std::nullopt;
    const std::uint32_t key = again_.front();
    again_.pop_front();
    return key;
  }
  void done() { ++done_; }
  void again(std::uint32_t key) { again_.push_back(key); }

  std::uint32_t done_count() const { return done_; }
  std::uint32_t keys() const { return keys_; }
  bool all_done() const { return done_ == keys_; }

 private:
  std::uint32_t keys_ = 0;
  std::uint32_t next_ = 0;
  std::uint32_t done_ = 0;
  std::deque<std::uint32_t> again_;
};

}  // namespace cleave::loadgen
