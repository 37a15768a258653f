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

class FanOut {
 public:
  // Starts again, with the memory of before. `places`: keys of the request (kArrayInOrder);
  // elsewhere it does not matter.
  void begin(route::Merge merge, std::size_t places);
  // In use since `begin`.
  bool active() const { return active_; }
  // Not in use any more; large buffers are given back.
  void end();

  void part_added() { ++open_; }
  // All parts are answered.
  bool complete() const { return open_ == 0; }

  // A part's reply. `places`: where its elements belong, in its own order. A reply that does not
  // fit (another type, fewer elements) counts as an error.
  void part_replied(std::string_view raw, std::span<const std::uint32_t> places);
  // The reply of a part that is taken off the sum (DBSIZE less the router's own keys).
  void part_subtracted(std::string_view raw);
  // `text` is without '-'.
  void part_failed(std::string_view text);
  // A part of a flush, at the server of that title: done, or an error without '-'. What was flushed
  // and what not is said in the reply of the whole.
  void part_flushed(std::string_view title, std::string_view error);

  // Bytes of replies that are kept until all are there.
  std::size_t kept_bytes() const { return bytes_.size(); }

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

  bool active_ = false;
  route::Merge merge_ = route::Merge::kNone;
  std::size_t places_ = 0;
  std::size_t open_ = 0;
  std::int64_t sum_ = 0;
  bool failed_ = false;
  std::string error_;
  std::string flushed_;          // titles
  std::string not_flushed_;      // titles, each with its error
  std::string bytes_;            // elements as they came, one after another
  std::vector<Slice> elements_;  // of bytes_, by place
};

}  // namespace cleave::proxy
