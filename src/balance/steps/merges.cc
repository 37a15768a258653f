#include "balance/steps/merges.h"

#include <algorithm>

#include "base/check.h"

namespace cleave::balance {
namespace {

struct Candidate {
  std::uint64_t peak = 0;
  ring::TokenRange range;
};

bool free_to_go(const ring::Cut& cut, UnixMillis now, milliseconds age) {
  return cut.pinned_until <= now && now.value() - cut.created.value() >= age.count();
}

class Merger {
 public:
  Merger(const Board& board, const Calm& calm)
      : board_(board), calm_(calm), input_(board.input()), entries_(input_.view->entries()) {}

  std::vector<ring::TokenRange> run() {
    const bool flatten = input_.orders.flatten;
    if (!flatten && input_.picture.observed < input_.constants.merge_observed) return {};
    // Entries without a cut are most of them, and none of this function's business.
    for (const ring::Cut& cut : input_.view->document().cuts) {
      const std::size_t at = input_.view->find(cut.range.first).value();
      if (!mergeable(at)) continue;
      if (agrees(at)) {
        consider(at, at, flatten);
      } else if (at + 1 < entries_.size() && mergeable(at + 1) &&
                 entries_[at].node == entries_[at + 1].node && !agrees(at + 1)) {
        consider(at, at + 1, flatten);
      }
    }
    return chosen();
  }

 private:
  const ring::Cut* cut_at(std::size_t at) const {
    const std::uint32_t cut = entries_[at].cut;
    return cut == ring::kNone ? nullptr : &input_.view->document().cuts[cut];
  }

  // A cut of its own that nothing touches. A cut that a move divides is several entries: not now.
  bool mergeable(std::size_t at) const {
    const ring::Cut* cut = cut_at(at);
    if (cut == nullptr || entries_[at].move != ring::kNone) return false;
    if (cut->range != entries_[at].range || board_.moving(cut->range)) return false;
    if (input_.orders.flatten) return cut->pinned_until <= input_.now;
    return free_to_go(*cut, input_.now, input_.constants.merge_after);
  }

  // The base gives it to its owner anyway: the cut can simply go.
  bool agrees(std::size_t at) const {
    const std::vector<ring::Arc> base = input_.view->base_in(entries_[at].range);
    return base.size() == 1 && base.front().node == entries_[at].node;
  }

  std::uint64_t peak(std::size_t at) const { return input_.picture.ranges[at].load.peak; }

  void consider(std::size_t first, std::size_t last, bool always) {
    std::uint64_t sum = 0;
    for (std::size_t at = first; at <= last; ++at) sum += peak(at);
    // What it would be joined with counts too.
    const NodeId owner = entries_[first].node;
    CHECK(last < entries_.size() && entries_[last].node == owner);  // a merge moves nothing
    if (agrees(first) && first > 0 && entries_[first - 1].node == owner) sum += peak(first - 1);
    if (agrees(first) && last + 1 < entries_.size() && entries_[last + 1].node == owner) {
      sum += peak(last + 1);
    }
    const ring::TokenRange range{entries_[first].range.first, entries_[last].range.last};
    if (always || (sum <= most(owner) && !calm_.cut_just_now(range))) {
      candidates_.push_back({sum, range});
    }
  }

  // Below it, load must double before the same cut could be worth making again.
  std::uint64_t most(NodeId owner) const {
    const Wide cut = Wide{board_.node(owner).fair} * input_.constants.cut_ppm / 1'000'000;
    return static_cast<std::uint64_t>(cut * input_.constants.merge_ppm / 1'000'000);
  }

  std::vector<ring::TokenRange> chosen() {
    std::ranges::sort(candidates_, [](const Candidate& left, const Candidate& right) {
      return left.peak != right.peak ? left.peak < right.peak : left.range < right.range;
    });
    std::vector<ring::TokenRange> result;
    for (const Candidate& each : candidates_) {
      if (result.size() >= input_.constants.merges_max) break;
      const auto meets = [&](const ring::TokenRange& other) { return other.overlaps(each.range); };
      if (std::ranges::none_of(result, meets)) result.push_back(each.range);
    }
    return result;
  }

  const Board& board_;
  const Calm& calm_;
  const Input& input_;
  std::span<const ring::Entry> entries_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<ring::TokenRange> plan_merges(const Board& board, const Calm& calm) {
  return Merger(board, calm).run();
}

}  // namespace cleave::balance
