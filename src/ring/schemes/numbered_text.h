// Points at the hashes of texts that differ in the number at their end: "name#0", "name#1", and so
// on. Counting in the text itself spares an allocation and a division a point. For the files of
// this folder.
//
// Threads: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ring/schemes/circle.h"

namespace cleave::ring {

class NumberedText {
 public:
  // Starts with the number 0.
  explicit NumberedText(std::string_view stem) : stem_(stem.size()), text_(stem) { text_ += '0'; }

  // Valid until the next call of `next`.
  std::string_view text() const { return text_; }

  void next() {
    std::size_t at = text_.size();
    while (at > stem_ && text_[at - 1] == '9') text_[--at] = '0';
    if (at > stem_) {
      ++text_[at - 1];
    } else {
      text_.insert(stem_, 1, '1');  // 99 is followed by 100
    }
  }

 private:
  std::size_t stem_;  // bytes before the number
  std::string text_;
};

// The points of a node at the texts `stem` + 0 .. `stem` + (count - 1).
struct NumberedPoints {
  std::string_view stem;
  std::uint64_t count;
  std::uint32_t node;
};

template <class Hash>
void add_numbered_points(const NumberedPoints& added, const Hash& hash,
                         std::vector<CirclePoint>& points) {
  NumberedText text(added.stem);
  for (std::uint64_t i = 0; i < added.count; ++i, text.next()) {
    points.push_back({hash(text.text()), added.node});
  }
}

}  // namespace cleave::ring
