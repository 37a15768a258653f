#include "control/observe/attribution_book.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/wide.h"

namespace cleave::control {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t count_of(nanoseconds time) { return static_cast<std::uint64_t>(time.count()); }

std::uint64_t a_second(std::uint64_t amount, nanoseconds took) {
  return static_cast<std::uint64_t>(Wide{amount} * kSecond / std::max(count_of(took), kSecond));
}

std::uint64_t calls_of(const heat::CommandStats& stats, std::string_view name) {
  const auto found = stats.find(name);
  return found == stats.end() ? 0 : found->second.calls;
}

heat::CommandStats only(const heat::CommandStats& stats, const CommandNames& names) {
  heat::CommandStats chosen;
  for (const auto& [name, stat] : stats) {
    if (names.contains(name)) chosen.emplace(name, stat);
  }
  return chosen;
}

// What we ourselves ask a server about keys while no move touches it: the ownership marker, with
// each poll and each connection's greeting, and in the transaction around a client's DBSIZE.
heat::CommandStats own_calls(const heat::CommandStats& interval, nanoseconds took) {
  constexpr std::uint64_t kMarkerReadsASecond = 3;
  return {{"get", {.calls = kMarkerReadsASecond * (count_of(took) / kSecond + 1), .usec = 0}},
          {"exists", {.calls = calls_of(interval, "dbsize"), .usec = 0}}};
}

}  // namespace

void AttributionBook::set_routers(const std::vector<SessionId>& routers) {
  if (routers == routers_) return;
  routers_ = routers;
  open_.spoilt = true;
  if (ended_) ended_->spoilt = true;
  std::erase_if(sequences_, [&](const auto& known) {
    return std::ranges::find(routers_, known.first.first) == routers_.end();
  });
}

void AttributionBook::moved(NodeId node) {
  open_.moved.insert(node);
  if (ended_) ended_->moved.insert(node);
}

void AttributionBook::forget(NodeId node) { books_.erase(node); }

// ---- questions to routers ---------------------------------------------------------------------

AttributionBook::Interval* AttributionBook::find(std::uint64_t number) {
  if (number == open_.number) return &open_;
  return ended_ && ended_->number == number ? &*ended_ : nullptr;
}

// A report that was lost on its way took its counts along.
bool AttributionBook::in_sequence(const SessionId& session, const heat::Report& report) {
  std::uint64_t& last = sequences_[{session, report.recorder}];
  const bool next = report.sequence == last + 1;
  last = report.sequence;
  return next;
}

void AttributionBook::count(std::uint64_t interval, const SessionId& session,
                            const std::vector<heat::Report>& reports, Instant now) {
  Interval* const counted = find(interval);
  for (const heat::Report& report : reports) {
    const bool whole = in_sequence(session, report);
    if (counted == nullptr) continue;
    if (!whole) counted->spoilt = true;
    for (const heat::RangeSum& sum : report.sums) {
      heat::Routed& routed = counted->routed[sum.node];
      routed.requests += sum.requests;
      routed.writes += sum.writes;
    }
  }
  // What came too late was not counted where it belongs, and is nowhere else.
  if (counted == nullptr) return;
  CHECK(counted->unanswered > 0);  // a question has one answer
  --counted->unanswered;
  counted->answered = std::max(counted->answered, now);
}

void AttributionBook::missing(std::uint64_t interval) {
  if (Interval* const counted = find(interval)) counted->spoilt = true;
}

// ---- the end of an interval -------------------------------------------------------------------

void AttributionBook::cut(Instant now) {
  CHECK(open_.cut == Instant{0} && now >= open_.answered);
  const std::uint64_t next = open_.number + 1;
  ended_ = std::move(open_);
  ended_->cut = now;
  open_ = {};
  open_.number = next;
  open_.spoilt = false;
  for (auto& [node, book] : books_) book.now.reset();
}

void AttributionBook::close(NodeId node, const Counters& counters) {
  if (!ended_) return;
  Result<heat::CommandStats> stats = heat::parse_commandstats(counters.command_stats);
  if (!stats || stats->empty()) return;
  CHECK(counters.asked <= counters.seen);
  books_[node].now = Reading{.stats = std::move(*stats),
                             .incarnation = counters.incarnation,
                             .asked = counters.asked,
                             .seen = counters.seen};
}

std::vector<NodeId> AttributionBook::judge(const CommandKinds& kinds, Instant now) {
  std::vector<NodeId> accused;
  if (!ended_) return accused;
  // Whoever did not answer keeps what it counted for an answer that belongs nowhere.
  if (ended_->unanswered > 0) ended_->spoilt = open_.spoilt = true;
  for (auto& [node, book] : books_) {
    if (book.now) {
      book.now->gap =
          std::max(ended_->answered, book.now->seen) - std::min(ended_->cut, book.now->asked);
    }
    if (comparable(node, book, kinds)) {
      compare(node, book, kinds);
    } else {
      book.in_a_row = 0;
    }
    const Instant began = book.before ? book.before->asked : now;
    book.before = std::exchange(book.now, std::nullopt);
    if (book.quiet >= kQuietMin) book.foreign = Instant{0};
    if (book.in_a_row < kIntervalsMin) continue;
    if (!foreign_writes(book, now)) accused.push_back(node);
    book.foreign = began;  // they may have ended then
    book.doubted = false;
  }
  ended_.reset();
  return accused;
}

bool AttributionBook::comparable(NodeId node, const Book& book, const CommandKinds& kinds) const {
  if (ended_->spoilt || ended_->moved.contains(node) || !book.before || !book.now) return false;
  if (book.before->incarnation != book.now->incarnation) return false;
  if (book.before->gap > kGapMax || book.now->gap > kGapMax) return false;
  const heat::CommandStats interval = heat::since(book.before->stats, book.now->stats);
  return std::ranges::none_of(interval,
                              [&](const auto& each) { return kinds.opaque.contains(each.first); });
}

void AttributionBook::compare(NodeId node, Book& book, const CommandKinds& kinds) {
  CHECK(ended_ && book.before && book.now);
  const heat::CommandStats all = heat::since(book.before->stats, book.now->stats);
  const heat::CommandStats interval = only(all, kinds.keyed);
  const nanoseconds took = book.now->seen - book.before->asked;
  CHECK(took >= nanoseconds{0});
  heat::Routed routed = ended_->routed[node];
  std::uint64_t served = 0;
  for (const auto& [name, stat] : interval) served += stat.calls;
  const nanoseconds gaps = book.before->gap + book.now->gap + kReplyMax;
  routed.edge_requests = static_cast<std::uint64_t>(
      Wide{a_second(std::max(served, routed.requests), took)} * count_of(gaps) / kSecond);
  const heat::Attribution seen =
      heat::reconcile(interval, own_calls(all, took), kinds.writes, routed);
  const bool foreign = seen.foreign_writes();
  book.in_a_row = foreign ? book.in_a_row + 1 : 0;
  book.doubted = book.doubted || !foreign;
  const bool none = seen.server_writes < routed.writes + heat::Attribution::kForeignWritesMin;
  book.quiet = none ? book.quiet + 1 : 0;
  // Who is told that somebody writes to it is told how much, not that it is nothing just now.
  const bool held = foreign_writes(book, book.now->seen) && book.quiet < kQuietMin;
  if (held && !foreign) return;
  book.last = {.requests = a_second(seen.unattributed_requests, took),
               .writes = a_second(seen.unattributed_writes, took)};
}

// ---- what is known ----------------------------------------------------------------------------

bool AttributionBook::foreign_writes(NodeId node, Instant now) const {
  const auto found = books_.find(node);
  return found != books_.end() && foreign_writes(found->second, now);
}

bool AttributionBook::foreign_writes(const Book& book, Instant now) {
  return book.foreign != Instant{0} &&
         now - book.foreign < (book.doubted ? kForeignFor : kUnjudgedFor);
}

Unattributed AttributionBook::unattributed(NodeId node) const {
  const auto found = books_.find(node);
  return found == books_.end() ? Unattributed{} : found->second.last;
}

}  // namespace cleave::control
