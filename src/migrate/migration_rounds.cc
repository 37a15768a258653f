// The scan and the rounds of a move (protocol rules 15, 16 and 27).
#include <algorithm>
#include <utility>

#include "migrate/migration.h"

namespace cleave::migrate {
namespace {

// CopyKeys under way at once while scanning: enough that source, destination and driver all work.
constexpr std::uint64_t kCopiesOpenMax = 4;
// While the scan goes on: often enough that no router's dirty set comes near its bound.
constexpr milliseconds kTakeEvery{100};
// A move leaves no more than so many keys behind, nor more than one in a thousand: else it is
// aborted as a whole, and no cut is laid.
constexpr std::size_t kKeptBehindMax = 16;
constexpr std::uint64_t kKeptBehindShare = 1'000;

std::string keys_text(const std::map<std::string, std::string>& unmovable) {
  const auto& [key, reason] = *unmovable.begin();
  if (unmovable.size() == 1) return "one key cannot be moved: " + reason;
  return std::to_string(unmovable.size()) + " keys cannot be moved, one of them because " + reason;
}

}  // namespace

// Rule 15: asks for the next page, or goes on to the rounds when all is scanned and copied.
Actions Migration::scan_on(Instant now) {
  if (step_ == Step::kAwaitCopying) {
    enter(Step::kScan, {}, now);
    scan_open_ = true;
    return {ScanNext{.from_start = true}};
  }
  if (scan_ended_) return copies_open_ == 0 && waiting_.empty() ? scanned(now) : Actions{};
  if (scan_open_ || copies_open_ >= kCopiesOpenMax) return {};
  scan_open_ = true;
  return {ScanNext{}};
}

Actions Migration::on(const ScanPage& event, Instant now) {
  if (step_ != Step::kScan || !scan_open_) return {};
  scan_open_ = false;
  scan_ended_ = event.last;
  keys_seen_ += event.keys.size();
  Actions actions;
  if (!event.keys.empty()) {
    ++copies_open_;
    actions.emplace_back(CopyKeys{.keys = event.keys});
  }
  for (Action& action : scan_on(now)) actions.push_back(std::move(action));
  return actions;
}

// What cannot be moved is known when all was looked at; then either little stays or nothing moves.
Actions Migration::scanned(Instant now) {
  return stay_.empty() ? next_round(now) : keep_behind(now);
}

Actions Migration::keep_behind(Instant now) {
  const std::uint64_t kept = options_.kept_behind + stay_.size();
  const std::uint64_t keys = keys_seen_ + options_.kept_behind;
  const std::uint64_t share =
      std::max<std::uint64_t>((keys + kKeptBehindShare - 1) / kKeptBehindShare, 1);
  if (kept > std::min<std::uint64_t>(kKeptBehindMax, share))
    return abort("too many keys would stay behind: " + keys_text(stay_), now);
  for (const auto& [key, reason] : stay_) outcome_.unmovable.push_back({key, reason});
  return abort(keys_text(stay_), now);
}

Actions Migration::on(const Copied& event, Instant now) {
  if (step_ == Step::kAbort || copies_open_ == 0) return {};
  --copies_open_;
  progress_.keys_copied += event.keys;
  progress_.bytes_copied += event.bytes;
  for (const std::string& key : event.pieces) {
    big_.found(key);
    pending_.add(key);
  }
  if (too_many_wait()) return abort(too_many_text(), now);
  for (const Unmovable& each : event.unmovable) stay_[each.key] = each.reason;
  if (options_.kept_behind + stay_.size() > kKeptBehindMax) return keep_behind(now);
  if (step_ == Step::kScan) return scan_on(now);
  if (!stay_.empty()) return keep_behind(now);
  if (copies_open_ > 0) return {};
  if (step_ == Step::kRounds) return round_copied(event, now);
  if (step_ != Step::kLastCopies) return {};
  if (!event.pieces.empty())
    return again(event.pieces.front(), "it has to be copied in pieces again", now);
  return last_copies(now);
}

// A take that was asked for meanwhile is the next round's.
Actions Migration::round_copied(const Copied& event, Instant now) {
  for (const std::string& key : in_pieces_)
    big_.copied(key, std::ranges::find(event.big, key) != event.big.end());
  in_pieces_.clear();
  for (const std::string& key : event.pieces) big_.found(key);
  if (!waiting_.empty()) return {};
  if (round_small_ && pending_.empty()) return enter(Step::kFence, {Write{Change::kFence}}, now);
  return next_round(now);
}

// Rule 16: first take the dirty sets, then read the keys. The other way round a write between the
// two would be in neither.
Actions Migration::next_round(Instant now) {
  if (options_.mutations.enter_late && step_ == Step::kScan)
    return enter(Step::kEnter, {Write{Change::kEnter}}, now);
  enter(Step::kRounds, {}, now);
  return take_dirty(now);
}

Actions Migration::take_dirty(Instant now) {
  ++take_number_;
  taken_at_ = now;
  waiting_ = members_;
  const std::vector<std::string> watch = big_.watch();
  Actions actions;
  for (const SessionId& session : waiting_)
    actions.emplace_back(Take{.session = session, .number = take_number_, .watch = watch});
  return actions;
}

// While copies are under way too: a router's dirty set is bounded, a scan may take hours, and the
// copies of a page or a round as long as the limit on bytes wants. What a small round copies is
// there before the next take.
Actions Migration::take_meanwhile(Instant now) {
  const bool round = step_ == Step::kRounds && copies_open_ > 0 && !round_small_;
  if (step_ != Step::kScan && !round) return {};
  if (!waiting_.empty() || now - taken_at_ < kTakeEvery) return {};
  if (step_ == Step::kScan && scan_ended_ && copies_open_ == 0) return {};
  meanwhile_ = round;
  return take_dirty(now);
}

Actions Migration::on(const Taken& event, Instant now) {
  if (step_ != Step::kRounds && step_ != Step::kScan) return {};
  if (event.number != take_number_) return {};
  if (waiting_.erase(event.session) == 0) return {};
  if (event.whole_range)
    return abort("a command whose keys are not all known, or too many writes, met the move", now);
  add_pending(event.keys, event.elements);
  if (too_many_wait()) return abort(too_many_text(), now);
  if (!waiting_.empty()) return {};
  big_.watched();
  // As if the sets had been listed, copied, and emptied afterwards by every second take.
  if (options_.mutations.dump_before_take && take_number_ % 2 == 0) pending_.clear();
  if (step_ == Step::kScan) return copy_meanwhile(now);
  // Taken while a round was copied: the next one's, which asks once more.
  if (std::exchange(meanwhile_, false)) return copies_open_ == 0 ? next_round(now) : Actions{};
  return round_taken(now);
}

// A fence is not for a key that takes longer than a fence may be held: not before a round in which
// nobody wrote it as a whole.
Actions Migration::round_taken(Instant now) {
  if (pending_.empty()) return enter(Step::kFence, {Write{Change::kFence}}, now);
  round_small_ =
      pending_.keys() <= options_.limits.dirty_small_keys && pending_.elements() <= few_elements();
  for (const auto& [key, elements] : pending_.marks()) {
    if (elements.empty() && big_.is_slow(key)) round_small_ = false;
  }
  for (const auto& [key, why] : big_.restless(pending_, few_elements())) stay_[key] = why;
  if (!stay_.empty()) return keep_behind(now);
  Actions copy = copy_pending(false);
  if (copy.empty()) return take_dirty(now);
  if (progress_.rounds >= options_.limits.dirty_rounds_max)
    return abort("writes come faster than they can be copied (" + std::to_string(progress_.rounds) +
                     " rounds)",
                 now);
  ++progress_.rounds;
  return copy;
}

bool Migration::too_many_wait() const {
  return pending_.keys() + pending_.elements() > options_.limits.driver_keys_max;
}

std::string Migration::too_many_text() const {
  return "writes come faster than they can be copied (" +
         std::to_string(pending_.keys() + pending_.elements()) + " keys wait)";
}

void Migration::add_pending(const std::vector<std::string>& keys,
                            const std::vector<Touched>& elements) {
  for (const std::string& key : keys) pending_.add(key);
  // Elements of a key that is in one piece are the key.
  for (const Touched& each : elements)
    big_.contains(each.key) ? pending_.add(each) : pending_.add(each.key);
}

// What is copied in pieces waits for the rounds: it would be copied again and again while a long
// scan stands still.
Actions Migration::copy_meanwhile(Instant now) {
  if (copies_open_ > kCopiesOpenMax) return {};  // with those of the next take
  CopyKeys copy;
  for (const auto& [key, elements] :
       pending_.take([this](const std::string& each, const auto&) { return !big_.contains(each); }))
    copy.keys.push_back(key);
  if (copy.keys.empty()) return scan_on(now);
  ++copies_open_;
  return {std::move(copy)};
}

// Without those that wait for their routers (BigKeys); none at all: nothing can be copied yet.
Actions Migration::copy_pending(bool fenced) {
  CopyKeys copy{.keys = {}, .fenced = fenced};
  for (auto& [key, elements] : pending_.take([&](const std::string& each, const auto& marked) {
         return fenced || !marked.empty() || big_.is_ready(each);
       })) {
    if (!elements.empty()) {
      copy.elements.push_back({.key = key, .elements = {elements.begin(), elements.end()}});
    } else {
      (big_.contains(key) ? copy.pieces : copy.keys).push_back(key);
    }
  }
  in_pieces_ = copy.pieces;
  if (copy.keys.empty() && copy.pieces.empty() && copy.elements.empty()) return {};
  ++copies_open_;
  return {std::move(copy)};
}

}  // namespace cleave::migrate
