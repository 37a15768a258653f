// FanOut: the replies of the parts of one request, on their way to become one reply.
//
// Pure: bytes in, bytes out. Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "route/handling.h"

namespace cleave::proxy {

// What the fan-outs of one worker keep, together, until their last parts are answered: at most that
// many bytes.
class GatheredBytes {
 public:
  explicit GatheredBytes(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // False: they do not fit, and are not counted.
  bool take(std::size_t bytes) {
    if (bytes > bytes_max_ - bytes_) return false;
    bytes_ += bytes;
    return true;
  }
  void give_back(std::size_t bytes) { bytes_ -= bytes; }

  std::size_t bytes() const { return bytes_; }
  // What is said to whoever asked for more, without '-'.
  std::string refusal() const;

 private:
  std::size_t bytes_max_;
  std::size_t bytes_ = 0;
};

class FanOut {
 public:
  // `gathered` outlives it.
  explicit FanOut(GatheredBytes& gathered) : gathered_(gathered) {}
  ~FanOut() { end(); }
  FanOut(const FanOut&) = delete;
  FanOut& operator=(const FanOut&) = delete;

  // Starts again, with the memory of before. `places`: keys of the request (kArrayInOrder);
  // elsewhere it does not matter. False: there is no room for them; it is ended.
  bool begin(route::Merge merge, std::size_t places);
  // Not in use any more; large buffers are given back.
  void end();

  void part_added() { ++open_; }
  // All parts are answered.
  bool complete() const { return open_ == 0; }

  // A part's reply. `places`: where its elements belong, in its own order. A reply that does not
  // fit (another type, fewer elements, or into the memory that there is) counts as an error.
  void part_replied(std::string_view raw, std::span<const std::uint32_t> places);
  // The reply of a part that is taken off the sum (DBSIZE less the router's own keys).
  void part_subtracted(std::string_view raw);
  // `text` is without '-'.
  void part_failed(std::string_view text);
  // A part of a flush, at the server of that title: done, or an error without '-'. What was flushed
  // and what not is said in the reply of the whole.
  void part_flushed(std::string_view title, std::string_view error);

  // The memory did not suffice, so the reply is an error of the router's own.
  bool overflowed() const { return overflowed_; }

  // The reply of the whole: the first error, or the merged values. Requires: complete().
  void append_reply(std::string& out) const;

 private:
  struct Slice {
    std::size_t offset = 0;
    std::size_t size = 0;
  };

  void merge(std::string_view raw, std::span<const std::uint32_t> places);
  std::int64_t number_in(std::string_view raw);
  void merge_elements(std::string_view raw, std::span<const std::uint32_t> places);
  void keep_error(std::string_view text);
  bool keep(std::size_t bytes);
  void keep_nothing();

  GatheredBytes& gathered_;
  std::size_t kept_ = 0;  // of gathered_
  route::Merge merge_ = route::Merge::kNone;
  std::size_t places_ = 0;
  std::size_t open_ = 0;
  std::int64_t sum_ = 0;
  bool failed_ = false;
  bool overflowed_ = false;
  std::string error_;
  std::string flushed_;          // titles
  std::string not_flushed_;      // titles, each with its error
  std::string bytes_;            // elements as they came, one after another
  std::vector<Slice> elements_;  // of bytes_, by place
};

}  // namespace cleave::proxy
