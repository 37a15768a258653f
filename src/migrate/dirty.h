// Dirty: what routers have marked and nobody has copied since: keys as a whole, and single
// elements of others (protocol rules 16 and 27).
//
// Threads: values.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/touched.h"

namespace cleave::migrate {

class Dirty {
 public:
  // No elements: the whole key. A mark of the whole key takes in those of its elements.
  using Marks = std::map<std::string, std::set<std::string>, std::less<>>;

  void add(const std::string& key);
  void add(const Touched& touched);

  bool empty() const { return marks_.empty(); }
  // Marked as a whole.
  std::size_t keys() const { return marks_.size() - partly_; }
  std::size_t elements() const { return elements_; }
  const Marks& marks() const { return marks_; }

  // Everything, or what `wanted(key, elements)` says; it is not dirty any more.
  template <class Wanted>
  Marks take(const Wanted& wanted) {
    Marks taken;
    for (auto mark = marks_.begin(); mark != marks_.end();) {
      const auto next = std::next(mark);
      if (wanted(mark->first, mark->second)) {
        forget(mark->second);
        taken.insert(marks_.extract(mark));
      }
      mark = next;
    }
    return taken;
  }
  void clear();

 private:
  void forget(const std::set<std::string>& elements);

  Marks marks_;
  std::size_t partly_ = 0;    // keys with elements
  std::size_t elements_ = 0;  // of all of them
};

}  // namespace cleave::migrate
