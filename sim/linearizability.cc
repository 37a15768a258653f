#include "sim/linearizability.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/rng.h"

namespace cleave::sim {
namespace {

// The key's value after `op` on `value`; nullopt: op's result cannot come from that value.
std::optional<std::int64_t> applied(const Op& op, std::int64_t value) {
  switch (op.kind) {
    case OpKind::kSet: return op.argument;
    case OpKind::kRead:
      if (op.result && *op.result != value) return std::nullopt;
      return value;
    case OpKind::kDelete:
      if (op.result && *op.result != (value == kAbsent ? 0 : 1)) return std::nullopt;
      return kAbsent;
    case OpKind::kIncrement: {
      const std::int64_t next = value == kAbsent ? 1 : value + 1;
      if (op.result && *op.result != next) return std::nullopt;
      return next;
    }
    case OpKind::kExpire: return value == op.argument ? kAbsent : value;
  }
  return std::nullopt;
}

// Two that may stand for one another: uncertain, alike, and without a value of their own.
bool alike(const Op& left, const Op& right) {
  return !left.happened && !right.happened && left.kind == right.kind &&
         left.argument == right.argument && left.kind != OpKind::kSet;
}

// True when the op's effect does not depend on what was there before, nor does it tell.
bool overwrites_unseen(const Op& op) {
  return op.kind == OpKind::kSet || (op.kind == OpKind::kDelete && !op.result);
}

class Search {
 public:
  Search(const std::vector<Op>& history, std::int64_t initial, std::uint64_t steps_max)
      : ops_(history), value_(initial), steps_left_(steps_max) {
    link();
    link_alike();
    count_sets();
    Rng rng(0x6C696E);
    for (std::size_t i = 0; i < ops_.size(); ++i) marks_.push_back(rng.next());
  }

  Ruling run();

 private:
  // The calls and returns in order of time, as a list from which placed operations are taken out.
  struct Node {
    std::size_t op = 0;
    bool is_call = false;
    std::size_t previous = 0;
    std::size_t next = 0;
    std::size_t match = 0;  // of a call: its return, or 0
    std::size_t after = 0;  // of an uncertain call: one alike that is to be placed before it, or 0
    bool placed = false;
  };
  struct Placed {
    std::size_t node = 0;
    std::int64_t value_before = 0;
    bool idle_before = false;
    std::uint64_t set_mark_before = 0;
  };

  // Certain operations are tried before uncertain ones: most of those never matter.
  enum class Pass : std::uint8_t { kCertain, kUncertain };

  void link();
  void link_alike();
  void count_sets();
  bool is_gone(std::int64_t value) const;
  bool is_over(const Op& op) const;
  std::uint64_t mark_of(std::size_t op, std::int64_t next) const;
  bool place(std::size_t node);
  bool take_back(std::size_t& node, Pass& pass);
  void unhook(std::size_t node);
  void rehook(std::size_t node);
  std::string explain() const;

  const std::vector<Op>& ops_;
  std::vector<Node> nodes_;  // nodes_[0]: head
  std::vector<std::uint64_t> marks_;
  std::vector<Placed> placed_;
  std::unordered_map<std::int64_t, std::size_t> sets_left_;       // not placed, by value
  std::unordered_map<std::int64_t, std::uint64_t> expiry_marks_;  // of those placed, by value
  bool counts_ = false;                                           // some operation increments
  std::size_t certain_left_ = 0;  // without expiries: where all others have a place, they have one
  std::size_t fewest_left_ = std::numeric_limits<std::size_t>::max();
  std::size_t stuck_at_ = 0;  // the return that could not be passed there
  std::int64_t stuck_value_ = 0;
  std::int64_t value_;
  bool idle_ = false;  // the last one placed is uncertain and nobody has seen its effect
  std::uint64_t set_mark_ = 0;
  std::uint64_t steps_left_;
  std::unordered_set<std::uint64_t> visited_;  // asked only, never walked
};

void Search::link() {
  struct Event {
    Instant when;
    bool is_call;
    std::size_t op;
  };
  std::vector<Event> events;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    events.push_back({ops_[i].called, true, i});
    if (!ops_[i].happened) continue;
    events.push_back({ops_[i].returned, false, i});
    if (ops_[i].kind != OpKind::kExpire) ++certain_left_;
  }
  // At one instant calls come first: then the operations overlap, which allows more.
  std::stable_sort(events.begin(), events.end(), [](const Event& left, const Event& right) {
    return left.when != right.when ? left.when < right.when : left.is_call && !right.is_call;
  });
  nodes_.resize(events.size() + 1);
  std::vector<std::size_t> call_of(ops_.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const std::size_t at = i + 1;
    nodes_[at].op = events[i].op;
    nodes_[at].is_call = events[i].is_call;
    nodes_[at].previous = at - 1;
    nodes_[at - 1].next = at;
    if (events[i].is_call)
      call_of[events[i].op] = at;
    else
      nodes_[call_of[events[i].op]].match = at;
  }
}

// Of uncertain operations that are alike, the one called first is placed first: another order would
// be the same one under other names.
void Search::link_alike() {
  for (std::size_t at = 1; at < nodes_.size(); ++at) {
    if (!nodes_[at].is_call) continue;
    for (std::size_t before = at - 1; before > 0 && nodes_[at].after == 0; --before) {
      if (nodes_[before].is_call && alike(ops_[nodes_[before].op], ops_[nodes_[at].op]))
        nodes_[at].after = before;
    }
  }
}

void Search::count_sets() {
  for (const Op& op : ops_) {
    if (op.kind == OpKind::kSet) ++sets_left_[op.argument];
    counts_ = counts_ || op.kind == OpKind::kIncrement;
  }
}

// Whether the value, once it is not the key's, never comes again.
bool Search::is_gone(std::int64_t value) const {
  const auto sets = sets_left_.find(value);
  return !counts_ && (sets == sets_left_.end() || sets->second == 0);
}

// An expiry whose value is gone has no effect wherever it is placed from here on: it needs no
// place. Giving it one would double what there is to search for each that is pending.
bool Search::is_over(const Op& op) const {
  return op.kind == OpKind::kExpire && value_ != op.argument && is_gone(op.argument);
}

// By what placing the operation, which leaves `next`, changes the mark of the state. With a value
// that goes, it no longer matters which of its expiries were placed.
std::uint64_t Search::mark_of(std::size_t op, std::int64_t next) const {
  if (next == value_ || !is_gone(value_)) return marks_[op];
  const auto expiries = expiry_marks_.find(value_);
  const std::uint64_t forgotten = expiries == expiry_marks_.end() ? 0 : expiries->second;
  return forgotten ^ (ops_[op].kind == OpKind::kExpire ? 0 : marks_[op]);
}

void Search::unhook(std::size_t node) {
  nodes_[nodes_[node].previous].next = nodes_[node].next;
  if (nodes_[node].next != 0) nodes_[nodes_[node].next].previous = nodes_[node].previous;
}

void Search::rehook(std::size_t node) {
  nodes_[nodes_[node].previous].next = node;
  if (nodes_[node].next != 0) nodes_[nodes_[node].next].previous = node;
}

// Puts the call's operation next in the order, if that is possible and new.
bool Search::place(std::size_t node) {
  const Op& op = ops_[nodes_[node].op];
  if (nodes_[node].after != 0 && !nodes_[nodes_[node].after].placed) return false;
  // An uncertain write that is overwritten before anybody saw it need not have happened: the order
  // without it is tried anyway. Without this rule the search would be exponential in them.
  if (idle_ && overwrites_unseen(op)) return false;
  if (is_over(op)) return false;
  const auto next = applied(op, value_);
  if (!next) return false;
  // An uncertain operation without effect need not have happened either.
  if (!op.happened && *next == value_) return false;
  const bool idle = !op.happened;
  const std::uint64_t set_mark = set_mark_ ^ mark_of(nodes_[node].op, *next);
  const std::uint64_t state =
      Rng(set_mark ^ (static_cast<std::uint64_t>(*next) * 2 + (idle ? 1 : 0))).next();
  if (!visited_.insert(state).second) return false;
  placed_.push_back({node, value_, idle_, set_mark_});
  nodes_[node].placed = true;
  value_ = *next;
  idle_ = idle;
  set_mark_ = set_mark;
  if (op.kind == OpKind::kSet) --sets_left_[op.argument];
  if (op.kind == OpKind::kExpire) expiry_marks_[op.argument] ^= marks_[nodes_[node].op];
  if (op.happened && op.kind != OpKind::kExpire) --certain_left_;
  if (nodes_[node].match != 0) unhook(nodes_[node].match);
  unhook(node);
  return true;
}

// Undoes the last placement; `node` and `pass` are where to go on. False: there was none.
bool Search::take_back(std::size_t& node, Pass& pass) {
  if (placed_.empty()) return false;
  const Placed last = placed_.back();
  placed_.pop_back();
  Node& call = nodes_[last.node];
  call.placed = false;
  rehook(last.node);
  if (call.match != 0) rehook(call.match);
  pass = ops_[call.op].happened ? Pass::kCertain : Pass::kUncertain;
  value_ = last.value_before;
  idle_ = last.idle_before;
  set_mark_ = last.set_mark_before;
  const Op& op = ops_[call.op];
  if (op.kind == OpKind::kSet) ++sets_left_[op.argument];
  if (op.kind == OpKind::kExpire) expiry_marks_[op.argument] ^= marks_[call.op];
  if (op.happened && op.kind != OpKind::kExpire) ++certain_left_;
  node = call.next;
  return true;
}

Ruling Search::run() {
  std::size_t node = nodes_[0].next;
  Pass pass = Pass::kCertain;
  while (certain_left_ > 0) {
    if (steps_left_-- == 0) return {false, true, "gave up: " + explain()};
    if (node != 0 && nodes_[node].is_call) {
      const bool wanted = ops_[nodes_[node].op].happened == (pass == Pass::kCertain);
      if (wanted && place(node)) {
        node = nodes_[0].next;
        pass = Pass::kCertain;
      } else {
        node = nodes_[node].next;
      }
      continue;
    }
    if (node != 0 && is_over(ops_[nodes_[node].op])) {  // the return of one that needs no place
      node = nodes_[node].next;
      continue;
    }
    if (pass == Pass::kCertain) {
      pass = Pass::kUncertain;
      node = nodes_[0].next;
      continue;
    }
    if (certain_left_ < fewest_left_) {
      fewest_left_ = certain_left_;
      stuck_at_ = node;
      stuck_value_ = value_;
    }
    if (!take_back(node, pass)) return {false, false, explain()};
  }
  return {true, false, {}};
}

std::string Search::explain() const {
  const std::size_t stuck = stuck_at_ == 0 ? nodes_.size() - 1 : stuck_at_;
  const Op& blocked = ops_[nodes_[stuck].op];
  std::string text = "no order explains " + describe(blocked) + "; longest order ends with value " +
                     (stuck_value_ == kAbsent ? "absent" : std::to_string(stuck_value_)) +
                     "; operations around it:";
  std::vector<const Op*> near;
  for (const Op& op : ops_) {
    const bool overlaps =
        op.called <= blocked.returned && (op.returned >= blocked.called || !op.happened);
    if (overlaps || (op.returned < blocked.called && op.returned + seconds{1} > blocked.called))
      near.push_back(&op);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const Op* left, const Op* right) { return left->called < right->called; });
  const std::size_t skip = near.size() > 40 ? near.size() - 40 : 0;
  for (std::size_t i = skip; i < near.size(); ++i) text += "\n    " + describe(*near[i]);
  return text;
}

// Without the uncertain operations that no certain one has seen: sets of values that were never
// read. An order without them is an order, as they need not have happened, and each of them doubles
// what there is to search.
std::vector<Op> without_unseen(const std::vector<Op>& history) {
  std::unordered_set<std::int64_t> seen;  // asked only, never walked
  for (const Op& op : history)
    if (op.kind == OpKind::kRead && op.happened && op.result) seen.insert(*op.result);
  std::vector<Op> kept;
  for (const Op& op : history)
    if (op.happened || op.kind != OpKind::kSet || seen.contains(op.argument)) kept.push_back(op);
  return kept;
}

std::string micros(Instant when) {
  return when == kForever ? "..." : std::to_string(when.count() / 1'000);
}

}  // namespace

std::string describe(const Op& op) {
  constexpr const char* kNames[] = {"set", "read", "delete", "increment", "expire"};
  std::string text = "[" + micros(op.called) + " " + micros(op.returned) + "] " +
                     kNames[static_cast<std::size_t>(op.kind)];
  if (op.kind == OpKind::kSet || op.kind == OpKind::kExpire)
    text += " " + std::to_string(op.argument);
  if (op.result) text += " -> " + (*op.result == kAbsent ? "absent" : std::to_string(*op.result));
  if (!op.happened) text += " (outcome unknown)";
  if (!op.who.empty()) text += " by " + op.who;
  return text;
}

Ruling check_linearizable(const std::vector<Op>& history, std::int64_t initial,
                          std::uint64_t steps_max) {
  const std::vector<Op> brief = without_unseen(history);
  if (brief.size() < history.size()) {
    Ruling ruling = Search(brief, initial, steps_max).run();
    if (ruling.linearizable) return ruling;
  }
  return Search(history, initial, steps_max).run();
}

}  // namespace cleave::sim
