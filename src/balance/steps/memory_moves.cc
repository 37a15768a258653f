#include "balance/steps/memory_moves.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "balance/plan/text.h"
#include "balance/steps/leveller.h"
#include "balance/steps/memory_trigger.h"
#include "balance/steps/parts.h"
#include "balance/steps/unsplittable.h"
#include "base/check.h"
#include "base/ppm.h"
#include "ring/width.h"

namespace cleave::balance {
namespace {

// What may be taken out of one source for one target.
struct Allowance {
  std::uint64_t bytes = 0;
  std::uint64_t keys = 0;
  std::uint64_t load = 0;
  std::uint64_t cuts = 0;
};

// Bytes as far as a sample tells them.
struct Estimate {
  std::uint64_t bytes = 0;
  Wide variance = 0;

  Estimate operator+(const Estimate& more) const {
    return {.bytes = bytes + more.bytes, .variance = variance + more.variance};
  }
  // The most that it may be in truth, but for one case in forty.
  std::uint64_t upper() const { return bytes + 2 * square_root(variance); }
};

// A stretch of the source, and what lies in it.
struct Piece {
  Part part;
  std::uint64_t keys = 0;
  Estimate size = {};
  Wide cost = 1;  // share of the node's keys and of its fair load, in millionths

  bool denser_than(const Piece& other) const {
    const Wide left = size.bytes * other.cost;
    const Wide right = other.size.bytes * cost;
    return left != right ? left > right : part.range < other.part.range;
  }
};

// What is taken for one target.
struct Taken {
  std::vector<Part> parts = {};
  Estimate size = {};
};

class MemoryPlanner : private Leveller {
 public:
  MemoryPlanner(Board& board, const Calm& calm, Plan& plan)
      : Leveller(board, calm, plan), mean_ppm_(mean_use_ppm(board)) {}

  void run() {
    std::vector<std::pair<std::uint64_t, NodeId>> full;
    for (const NodeTrigger& each : plan_.trigger.nodes) {
      if (!each.emptying) continue;
      const BoardNode& node = board_.node(each.node);
      full.emplace_back(~ppm_of_limit(node), node.id);  // fullest first
    }
    std::ranges::sort(full);
    for (const auto& [level, id] : full) help(id);
  }

 private:
  static std::uint64_t ppm_of_limit(const BoardNode& node) {
    CHECK(node.memory_max > 0);
    return static_cast<std::uint64_t>(Wide{node.memory} * kMillion / node.memory_max);
  }

  std::uint64_t mean_of(const BoardNode& node) const { return ppm_of(node.memory_max, mean_ppm_); }

  std::uint64_t spare(const BoardNode& node) const {
    return above(ppm_of(mean_of(node), constants_.fill_ppm), node.memory);
  }

  void help(NodeId id);
  Allowance allowed(const BoardNode& source, const BoardNode& target, std::uint64_t bytes) const;
  bool move(const BoardNode& source, const BoardNode& target, const std::vector<Part>& parts,
            const std::string& why, Verdict& verdict);
  bool give_large(const BoardNode& source, const BoardNode& target, Verdict& verdict);
  std::uint64_t load_room(const BoardNode& target) const;
  std::string why_not(const BoardNode& source, const BoardNode& target, const Taken& taken) const;
  bool mostly_dwells(const BoardNode& source) const;
  std::uint32_t hour_ppm(const BoardNode& source) const;
  std::string refusal(const BoardNode& source, Verdict& verdict) const;
  std::vector<NodeId> targets(const BoardNode& source, Verdict& verdict) const;
  std::vector<Piece> pieces(const BoardNode& source, const BoardNode& target) const;
  Piece piece_of(const BoardNode& source, const Part& part) const;
  std::optional<Piece> fitted(const BoardNode& source, Piece piece, const Estimate& taken,
                              const Allowance& left) const;
  Taken take(const std::vector<Piece>& from, const BoardNode& source, Allowance left) const;
  bool worth(const BoardNode& source, const Taken& taken) const;
  void explain(const BoardNode& source, const Taken& best, Verdict verdict) const;

  std::uint64_t mean_ppm_;
};

void MemoryPlanner::help(NodeId id) {
  const BoardNode source = board_.node(id);
  Verdict verdict{.node = id};
  verdict.text = "memory: '" + source.name + "' uses " + percent(source.memory, source.memory_max) +
                 " of its memory";
  if (const std::string no = refusal(source, verdict); !no.empty()) {
    verdict.text += ", but " + no;
    plan_.verdicts.push_back(std::move(verdict));
    return;
  }
  const std::vector<NodeId> open = targets(source, verdict);
  if (!open.empty() && give_large(source, board_.node(open.front()), verdict)) return;
  Taken best;  // of those that are not worth a move
  for (const NodeId to : open) {
    const BoardNode target = board_.node(to);
    const std::uint64_t bytes = std::min(above(source.memory, mean_of(source)), spare(target));
    Taken taken = take(pieces(source, target), source, allowed(source, target, bytes));
    if (worth(source, taken) &&
        move(source, target, taken.parts, "most bytes for their load", verdict))
      return;
    if (verdict.alternatives.size() < kAlternativesMax)
      verdict.alternatives.push_back({to, why_not(source, target, taken)});
    if (!worth(source, taken) && taken.size.bytes > best.size.bytes) best = std::move(taken);
  }
  explain(source, best, std::move(verdict));
}

Allowance MemoryPlanner::allowed(const BoardNode& source, const BoardNode& target,
                                 std::uint64_t bytes) const {
  return {.bytes = bytes,
          .keys = keys_left(hour_ppm(source)),
          .load = load_room(target),
          .cuts = cuts_left_};
}

// By so little of its capacity any node may be above the mean: the trigger does not call that high.
// Else next to no load, unevenly spread, would keep a full node full.
std::uint64_t MemoryPlanner::load_room(const BoardNode& target) const {
  const std::uint64_t little = ppm_of(target.capacity, constants_.slow_capacity_ppm);
  return std::max(room_of(target, constants_), above(target.fair + little, target.load));
}

// Requires: nothing was moved to the target.
std::string MemoryPlanner::why_not(const BoardNode& source, const BoardNode& target,
                                   const Taken& taken) const {
  if (worth(source, taken)) return "it has no memory free for " + bytes_text(taken.size.bytes);
  if (load_room(target) == 0) {
    return "it is at " + times(target.level()) + " of its fair load (" +
           percent(target.load, target.capacity) + " of its capacity): no room for more load";
  }
  return "of what has room in its " + bytes_text(spare(target)) + " below " +
         percent(mean_of(target), target.memory_max) + ", the mean use, too little is worth a move";
}

// False when the target has not the memory for it.
bool MemoryPlanner::move(const BoardNode& source, const BoardNode& target,
                         const std::vector<Part>& parts, const std::string& why, Verdict& verdict) {
  PlannedMove move = move_of_parts(board_, source, target, parts, Cause::kMemory);
  if (!fits_memory(target, move, constants_)) return false;
  move.reason = verdict.text + " and gives " + pieces_text(move) + ", " + why + ", to '" +
                target.name + "' at " + percent(target.memory, target.memory_max);
  spend_cuts(2 * move.ranges.size());
  Leveller::take(std::move(move), std::move(verdict.alternatives));
  return true;
}

// Tokens that fit nowhere, as full as everybody is, may together be too much for their node. Then
// giving away everything else helps nothing: one of them goes to the emptiest, which then gives
// away other keys for it.
bool MemoryPlanner::give_large(const BoardNode& source, const BoardNode& target, Verdict& verdict) {
  if (board_.price_of(source).stock == nullptr) return false;
  std::vector<Piece> large;
  std::uint64_t held = 0;
  for (const Piece& each : pieces(source, target)) {
    const bool token = each.part.range.first == each.part.range.last;
    if (!token || each.size.bytes <= spare(target)) continue;
    held += each.size.bytes;
    large.push_back(each);
  }
  const std::uint64_t stop = ppm_of(mean_of(source), constants_.memory_stop_ppm);
  if (large.size() < 2 || held <= stop) return false;
  std::ranges::sort(large, {},
                    [](const Piece& each) { return std::pair(each.size.bytes, each.part.range); });
  const std::uint64_t excess = above(source.memory, mean_of(source));
  const std::uint64_t gain = ppm_of(excess, constants_.gain_excess_ppm);
  const Allowance left = allowed(source, target, 0);
  const Piece* best = nullptr;  // the smallest that is enough, else the largest that may go
  for (const Piece& each : large) {
    const Wide after = Wide{target.memory + each.size.bytes} * source.memory_max;
    const bool betters = after <= Wide{above(source.memory, gain)} * target.memory_max;
    const bool affordable = each.keys <= left.keys && each.part.load <= left.load && left.cuts >= 2;
    if (!betters || !affordable) continue;
    best = &each;
    if (held - each.size.bytes <= stop) break;
  }
  if (best == nullptr) return false;
  return move(source, target, {best->part}, "one token, for which there is room nowhere else",
              verdict);
}

// What is almost full cannot wait for the usual budget of an hour.
std::uint32_t MemoryPlanner::hour_ppm(const BoardNode& source) const {
  const bool hot = source.memory >= ppm_of(source.memory_max, constants_.memory_hot_ppm);
  return hot ? std::max(constants_.urgent_hour_keys_ppm, constants_.hour_keys_ppm)
             : constants_.hour_keys_ppm;
}

// Why nothing is even tried; "" = it is.
std::string MemoryPlanner::refusal(const BoardNode& source, Verdict& verdict) const {
  if (!source.no_source.empty()) return vetoed(source, verdict);
  if (source.moves_out >= constants_.moves_out_max) {
    verdict.why = Why::kInFlight;
    return "its move under way comes first";
  }
  if (source.sample_due != UnixMillis{}) {
    verdict.why = Why::kSample;
    verdict.until = source.sample_due;
    return "where its bytes lie is not known well enough yet: its keys are being looked at";
  }
  verdict.until = calm_.gave_until(source.id, constants_.memory_settle);
  if (verdict.until == UnixMillis{}) return "";
  verdict.why = Why::kRests;
  return "its server has not yet counted what its last move took away";
}

// Most memory to spare first.
std::vector<NodeId> MemoryPlanner::targets(const BoardNode& source, Verdict& verdict) const {
  std::vector<std::pair<std::uint64_t, NodeId>> open;
  for (const BoardNode& each : board_.nodes()) {
    if (each.id == source.id) continue;
    std::string no = each.no_target.empty() ? placement_veto(source, each) : each.no_target;
    if (no.empty() && each.memory_max == 0) no = "it has no limit of memory to compare with";
    if (no.empty() && spare(each) == 0) {
      no = "it uses " + percent(each.memory, each.memory_max) + " of its memory, the mean is " +
           percent(mean_ppm_, kMillion);
    }
    if (no.empty() && each.moves_in >= constants_.moves_in_max) no = "it is taking another move";
    if (no.empty()) {
      open.emplace_back(~spare(each), each.id);
    } else if (verdict.alternatives.size() < kAlternativesMax) {
      verdict.alternatives.push_back({each.id, std::move(no)});
    }
  }
  std::ranges::sort(open);
  std::vector<NodeId> ids;
  for (const auto& [room, id] : open) {
    if (ids.size() < constants_.targets_max) ids.push_back(id);
  }
  return ids;
}

// What the source may give to the target, cut where its stock changes; densest in bytes first.
std::vector<Piece> MemoryPlanner::pieces(const BoardNode& source, const BoardNode& target) const {
  std::vector<Piece> result;
  const Price price = board_.price_of(source);
  const auto add = [&](const BoardRange& of, const ring::TokenRange& range) {
    result.push_back(piece_of(source, {range, source.id, board_.load_in(of, range), &of}));
  };
  for (const Offer& each : offers(source, target)) {
    if (price.stock == nullptr) {
      add(*each.of, each.range);
      continue;
    }
    const auto slices = price.stock->slices();
    auto slice = std::ranges::lower_bound(slices, each.range.first, {},
                                          [](const Slice& of) { return of.range.last; });
    for (; slice != slices.end() && slice->range.first <= each.range.last; ++slice) {
      add(*each.of, ring::common(slice->range, each.range));
    }
  }
  std::ranges::sort(result,
                    [](const Piece& left, const Piece& right) { return left.denser_than(right); });
  return result;
}

Piece MemoryPlanner::piece_of(const BoardNode& source, const Part& part) const {
  const Price price = board_.price_of(source);
  Piece piece{.part = part, .keys = price.keys_in(part.range), .size = {}};
  piece.size.bytes = price.bytes_in(part.range, piece.keys);
  if (price.stock != nullptr) piece.size.variance = price.stock->variance_in(part.range);
  const Wide keys = Wide{piece.keys} * kMillion / std::max<std::uint64_t>(source.keys, 1);
  const Wide load = Wide{part.load} * kMillion / std::max<std::uint64_t>(source.fair, 1);
  piece.cost = keys + load + 1;
  return piece;
}

// The piece, or as much of its front as there is room for beside what is taken already. The error
// of a part shrinks less than the part does: it is halved until both fit.
std::optional<Piece> MemoryPlanner::fitted(const BoardNode& source, Piece piece,
                                           const Estimate& taken, const Allowance& left) const {
  const std::uint64_t room = above(left.bytes, taken.upper());
  Wide width = ring::width(piece.part.range);
  Wide part = width;
  if (piece.size.bytes > room) part = std::min(part, width / piece.size.bytes * room);
  if (piece.keys > left.keys) part = std::min(part, width / piece.keys * left.keys);
  for (; part > 0; part /= 2) {
    if (part < width) {
      Part front = piece.part;
      front.range.last = Token{front.range.first.value() + static_cast<std::uint64_t>(part - 1)};
      front.load = board_.load_in(*front.of, front.range);
      piece = piece_of(source, front);
      width = part;
    }
    // No salami: pieces_max of them should reach the goal, twice over.
    if (Wide{piece.size.bytes} * 2 * constants_.pieces_max <= left.bytes) break;
    const bool fits = (taken + piece.size).upper() <= left.bytes && piece.keys <= left.keys &&
                      piece.part.load <= left.load;
    if (fits) return piece;
  }
  return std::nullopt;
}

Taken MemoryPlanner::take(const std::vector<Piece>& from, const BoardNode& source,
                          Allowance left) const {
  Taken taken;
  for (const Piece& each : from) {
    if (taken.parts.size() >= constants_.pieces_max || left.cuts < 2) break;
    const auto piece = fitted(source, each, taken.size, left);
    if (!piece) continue;
    left.keys -= piece->keys;
    left.load -= piece->part.load;
    left.cuts -= 2;
    taken.size = taken.size + piece->size;
    taken.parts.push_back(piece->part);
  }
  return taken;
}

// As with load: so much of a fair share, or of what is too much.
bool MemoryPlanner::worth(const BoardNode& source, const Taken& taken) const {
  const std::uint64_t mean = mean_of(source);
  const std::uint64_t least =
      std::min(ppm_of(mean, constants_.gain_min_ppm),
               ppm_of(above(source.memory, mean), constants_.gain_excess_ppm));
  return taken.size.bytes > 0 && taken.size.bytes >= least;
}

// Most of what the node could give must stay where it is for now.
bool MemoryPlanner::mostly_dwells(const BoardNode& source) const {
  Wide stays = 0;
  Wide free = 0;
  for (const ring::TokenRange& each : own_ranges(source)) {
    stays += ring::width(each);
    for (const ring::TokenRange& part : ring::outside(each, calm_.dwelling())) {
      free += ring::width(part);
    }
  }
  CHECK(free <= stays);
  return stays - free > free;
}

void MemoryPlanner::explain(const BoardNode& source, const Taken& best, Verdict verdict) const {
  const Price price = board_.price_of(source);
  const Slice* largest = nullptr;
  if (price.stock != nullptr) {
    for (const Slice& each : price.stock->slices()) {
      const bool token = each.range.first == each.range.last;
      if (token && (largest == nullptr || each.bytes > largest->bytes)) largest = &each;
    }
  }
  if (keys_left(hour_ppm(source)) == 0) {
    verdict.text += ", but " + no_keys(1, hour_ppm(source), verdict);
  } else if (cuts_left_ < 2) {
    verdict.text += ", but " + no_cuts(verdict);
  } else if (largest != nullptr && largest->bytes > above(source.memory, mean_of(source)) / 2) {
    verdict.why = Why::kUnsplittable;
    verdict.token = largest->range.first;
    verdict.key = heat::key_at(board_.input().picture, largest->range.first);
    verdict.text = name_of({.token = *verdict.token, .key = verdict.key}) + " holds " +
                   bytes_text(largest->bytes) + " of '" + source.name + "', which uses " +
                   percent(source.memory, source.memory_max) +
                   " of its memory: no cut can divide a key, and nobody has room for it";
  } else if (best.size.bytes > 0) {
    verdict.why = Why::kTooSmall;
    verdict.text += ", and the " + bytes_text(best.size.bytes) +
                    " that anybody could take are not worth a move";
  } else if (mostly_dwells(source)) {
    verdict.text += ", but " + dwells(source, verdict);
  } else {
    verdict.why = Why::kNoTarget;
    verdict.text += ", and nobody can take any of it";
    const Alternative* first = verdict.alternatives.empty() ? nullptr : &verdict.alternatives[0];
    if (first != nullptr)
      verdict.text += "; for one, '" + board_.node(first->node).name + "': " + first->why;
  }
  plan_.verdicts.push_back(std::move(verdict));
}

}  // namespace

void plan_memory(Board& board, const Calm& calm, Plan& plan) {
  MemoryPlanner(board, calm, plan).run();
}

}  // namespace cleave::balance
