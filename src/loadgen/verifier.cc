#include "loadgen/verifier.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/check.h"

namespace cleave::loadgen {
namespace {

constexpr std::size_t kExamplesMax = 8;
constexpr std::size_t kLifetimesKept = 16;
constexpr Instant kNever = Instant::max() / 2;

// A version says by itself whether it deletes: two versions for each write, the odd one to delete.
constexpr std::uint32_t next_version(std::uint32_t newest, bool deletes) {
  return (newest / 2 + 1) * 2 + (deletes ? 1 : 0);
}
constexpr bool deletes(std::uint32_t version) { return version % 2 == 1; }

}  // namespace

Verifier::Verifier(const Options& options) : options_(options), states_(options.keys) {
  CHECK(options.counters + options.erasable + options.expiring <= 1'000);
}

// Spread over the keys, so that the popular ones are of every kind.
Kind Verifier::kind(std::uint32_t key) const {
  const std::uint32_t place = (key % 1'000) * 617 % 1'000;  // a permutation of 0..999
  if (place < options_.counters) return Kind::kCounter;
  if (place < options_.counters + options_.erasable) return Kind::kErasable;
  if (place < options_.counters + options_.erasable + options_.expiring) return Kind::kExpiring;
  return Kind::kRegister;
}

bool Verifier::may_write(std::uint32_t key, std::uint32_t client) const {
  const State& state = states_[key];
  if (state.in_doubt || state.retired) return false;
  if (state.under_way == std::numeric_limits<std::uint16_t>::max()) return false;
  if (kind(key) == Kind::kCounter && !state.started) return state.under_way == 0;
  return state.under_way == 0 || state.writer == client;
}

Ticket Verifier::begin_read(std::uint32_t key, Instant now) const {
  const State& state = states_[key];
  const std::uint32_t judged = kind(key) != Kind::kCounter || state.started ? 1 : 0;
  return {.key = key, .version = judged, .floor = state.floor, .sent = now};
}

Ticket Verifier::begin_write(std::uint32_t key, std::uint32_t client, Rng& dice, Instant now) {
  CHECK(may_write(key, client));
  State& state = states_[key];
  Ticket ticket{.key = key, .floor = state.floor, .sent = now};
  state.writer = client;
  ++state.under_way;
  const Kind what = kind(key);
  if (what == Kind::kCounter) {
    ticket.operation = state.started ? Operation::kIncrement : Operation::kSetZero;
    if (state.started) ticket.version = ++state.newest;
    return ticket;
  }
  const bool exists = state.newest > 0 && !deletes(state.newest);
  const bool removes = what == Kind::kErasable && exists && dice.chance(1, 4);
  ticket.operation = removes ? Operation::kDelete : Operation::kSet;
  ticket.version = state.newest = next_version(state.newest, removes);
  if (removes) state.last_delete = ticket.version;
  if (what == Kind::kExpiring) {
    ticket.operation = Operation::kSetExpiring;
    std::vector<Lifetime>& lifetimes = lifetimes_[key];
    if (lifetimes.size() == kLifetimesKept) lifetimes.erase(lifetimes.begin());
    lifetimes.push_back(
        {.version = ticket.version, .gone_from = now + options_.ttl, .gone_by = kNever});
  }
  return ticket;
}

void Verifier::append_value(const Ticket& write, std::string& out) const {
  out += value_of(write.key, write.version);
}

void Verifier::finish(const Ticket& ticket, const Seen& seen, Instant now) {
  if (ticket.writes()) return finish_write(ticket, seen, now);
  if (seen.what == Seen::What::kUnknown) return;
  ++findings_.reads;
  State& state = states_[ticket.key];
  state.in_doubt = false;
  if (kind(ticket.key) == Kind::kCounter) {
    judge_counter(ticket, seen);
  } else {
    judge_register(ticket, seen, now);
  }
}

void Verifier::finish_write(const Ticket& ticket, const Seen& seen, Instant now) {
  State& state = states_[ticket.key];
  CHECK(state.under_way > 0);
  --state.under_way;
  if (seen.what != Seen::What::kUnknown) return acknowledge(ticket, seen, now);
  ++findings_.writes_unknown;
  state.in_doubt = true;
  if (ticket.operation == Operation::kSetZero) state.retired = true;
  if (kind(ticket.key) != Kind::kCounter) unknown_[ticket.key].push_back(ticket.version);
}

void Verifier::acknowledge(const Ticket& ticket, const Seen& seen, Instant now) {
  State& state = states_[ticket.key];
  ++findings_.writes_acked;
  if (ticket.operation == Operation::kSetZero) {
    state.started = true;
    return;
  }
  if (ticket.operation == Operation::kIncrement) return judge_increment(ticket, seen.integer);
  if (ticket.operation == Operation::kDelete) judge_delete(ticket, seen.integer);
  if (ticket.operation == Operation::kSetExpiring) {
    for (Lifetime& lifetime : lifetimes_[ticket.key]) {
      if (lifetime.version == ticket.version) lifetime.gone_by = now + options_.ttl;
    }
  }
  state.floor = std::max(state.floor, ticket.version);
  lost_.erase(ticket.key);  // what was missing is overwritten: it cannot be found again
}

// The n-th increment sent cannot come to more than n; it comes to more than what was sure when it
// was sent, and than the acknowledged ones before it. (Not: than the floor of now, which another
// client's read of its own effect may have raised.)
void Verifier::judge_increment(const Ticket& ticket, std::int64_t value) {
  State& state = states_[ticket.key];
  const std::int64_t least = std::int64_t{std::max(sure(ticket), state.counted)} + 1;
  const auto now_sure = static_cast<std::uint32_t>(std::max<std::int64_t>(value, 0));
  if (value < least || value > std::int64_t{ticket.version}) wrong(ticket, std::to_string(value));
  if (value < least) {
    findings_.writes_lost += static_cast<std::uint64_t>(least - value);
    state.floor = now_sure;  // counted once: from here on the counter is what it says it is
  }
  state.counted = now_sure;
  state.floor = std::max(state.floor, now_sure);
  state.newest = std::max(state.newest, now_sure);
}

// What DEL removed tells of the write just before it, if nothing about that is uncertain.
void Verifier::judge_delete(const Ticket& ticket, std::int64_t removed) {
  const State& state = states_[ticket.key];
  const bool certain = state.floor / 2 + 1 == ticket.version / 2 && state.floor > 1 &&
                       !others_in_question(ticket.key, ticket.version) &&
                       !lost_.contains(ticket.key);
  if (!certain || (removed == 1) == !deletes(state.floor)) return;
  wrong(ticket, "DEL " + std::to_string(removed));
  ++findings_.writes_lost;
}

void Verifier::judge_counter(const Ticket& ticket, const Seen& seen) {
  State& state = states_[ticket.key];
  if (ticket.version == 0) return;  // sent before the counter was set to zero
  std::int64_t value = 0;
  if (seen.what == Seen::What::kValue) {
    const char* const end = seen.text.data() + seen.text.size();
    const auto [stop, failed] = std::from_chars(seen.text.data(), end, value);
    if (failed != std::errc{} || stop != end) return wrong(ticket, seen.text);
  }
  const bool too_small = value < std::int64_t{sure(ticket)};
  const bool too_large = value > std::int64_t{state.newest};
  if (too_small || too_large) wrong(ticket, std::to_string(value));
  if (too_small && ticket.floor < state.floor) return;  // older than what others know: stale
  if (too_small) findings_.writes_lost += static_cast<std::uint64_t>(state.floor - value);
  // Counted once: from here on the counter is what it says it is.
  const auto now_sure = static_cast<std::uint32_t>(std::max<std::int64_t>(value, 0));
  state.floor = too_small ? now_sure : std::max(state.floor, now_sure);
  state.counted = std::min(state.counted, state.floor);
  state.newest = std::max(state.newest, now_sure);
}

void Verifier::judge_register(const Ticket& ticket, const Seen& seen, Instant now) {
  if (ticket.floor == 0) return;  // what was there before this run is anybody's guess
  if (seen.what == Seen::What::kAbsent) return judge_absence(ticket, now);
  const std::uint32_t version = version_of(ticket.key, seen.text);
  if (version == 0) {
    wrong(ticket, seen.text.substr(0, 40));
    lost(ticket);
  } else if (!may_still_be_there(ticket, version)) {
    wrong(ticket, "version " + std::to_string(version) + " after its time");
  } else {
    judge_version(ticket, version);
  }
}

void Verifier::judge_absence(const Ticket& ticket, Instant now) {
  State& state = states_[ticket.key];
  if (may_be_absent(ticket, now)) {
    // A delete right after what was sure, and no other in question: then it was that one.
    const bool follows = state.newest / 2 == ticket.floor / 2 + 1 && !deletes(ticket.floor);
    if (follows && deletes(state.newest) && !others_in_question(ticket.key, state.newest)) {
      state.floor = std::max(state.floor, state.newest);
    }
    return;
  }
  if (came_late(ticket, std::nullopt)) return;
  wrong(ticket, "nothing");
  lost(ticket);
  // Counted once: from here on what was sure counts as deleted.
  state.last_delete = std::max(state.last_delete, state.floor);
}

void Verifier::judge_version(const Ticket& ticket, std::uint32_t version) {
  State& state = states_[ticket.key];
  const auto missing = lost_.find(ticket.key);
  if (missing != lost_.end() && missing->second == version) {
    --findings_.writes_lost;  // it is still there: the earlier read was stale
    lost_.erase(missing);
  }
  if (version >= sure(ticket)) {
    state.floor = std::max(state.floor, version);
    note_unknown(ticket.key, [&](std::uint32_t each) { return each == version; });
    return;
  }
  if (came_late(ticket, version)) return;
  wrong(ticket, "version " + std::to_string(version));
  if (ticket.floor < state.floor) return;  // older than what others know: stale
  lost(ticket);
  // Counted once: from here on the key is what it says it is.
  state.floor = version;
}

// What must have happened. The floor at the time of sending, but for a floor that was lowered since
// because of what another reply showed: one fault is one fault.
std::uint32_t Verifier::sure(const Ticket& ticket) const {
  return std::min(ticket.floor, states_[ticket.key].floor);
}

// Whether a write without an answer, other than this one, may have changed the key.
bool Verifier::others_in_question(std::uint32_t key, std::uint32_t version) const {
  if (late_.contains(key)) return true;
  const auto unknown = unknown_.find(key);
  if (unknown == unknown_.end()) return false;
  return std::ranges::any_of(unknown->second, [&](auto each) { return each != version; });
}

bool Verifier::may_be_absent(const Ticket& ticket, Instant now) const {
  const std::uint32_t floor = sure(ticket);
  if (states_[ticket.key].last_delete >= floor) return true;
  const auto lifetimes = lifetimes_.find(ticket.key);
  if (lifetimes == lifetimes_.end()) return false;
  if (lifetimes->second.front().version > floor) return true;  // no longer remembered
  return std::ranges::any_of(lifetimes->second, [&](const Lifetime& lifetime) {
    return lifetime.version >= floor && now >= lifetime.gone_from - options_.tolerance;
  });
}

bool Verifier::may_still_be_there(const Ticket& ticket, std::uint32_t version) const {
  const auto lifetimes = lifetimes_.find(ticket.key);
  if (lifetimes == lifetimes_.end()) return true;
  return std::ranges::none_of(lifetimes->second, [&](const Lifetime& lifetime) {
    return lifetime.version == version && ticket.sent > lifetime.gone_by + options_.tolerance;
  });
}

// Whether what was read (a version, or nothing) is an unknown write that took effect after later
// ones.
bool Verifier::came_late(const Ticket& ticket, std::optional<std::uint32_t> version) {
  const auto is_it = [&](std::uint32_t each) { return version ? each == *version : deletes(each); };
  const std::uint32_t floor = sure(ticket);
  if (const auto late = late_.find(ticket.key); late != late_.end()) {
    const auto legal = [&](const Late& each) { return is_it(each.version) && each.until >= floor; };
    if (std::ranges::any_of(late->second, legal)) return true;
  }
  if (!note_unknown(ticket.key, is_it)) return false;
  ++findings_.late_writes;
  return true;
}

// An unknown write was seen. It will not come again, but where it came between the others is not
// known: it may be read until a write is sure that was sent after this.
bool Verifier::note_unknown(std::uint32_t key, const std::function<bool(std::uint32_t)>& is_it) {
  if (unknown_.empty()) return false;
  const auto unknown = unknown_.find(key);
  if (unknown == unknown_.end()) return false;
  const auto found = std::ranges::find_if(unknown->second, is_it);
  if (found == unknown->second.end()) return false;
  late_[key].push_back({.version = *found, .until = states_[key].newest});
  unknown->second.erase(found);
  if (unknown->second.empty()) unknown_.erase(unknown);
  return true;
}

void Verifier::lost(const Ticket& ticket) {
  if (!lost_.emplace(ticket.key, ticket.floor).second) return;
  ++findings_.writes_lost;
}

void Verifier::wrong(const Ticket& ticket, std::string_view saw) {
  ++findings_.reads_wrong;
  if (findings_.examples.size() == kExamplesMax) return;
  const State& state = states_[ticket.key];
  findings_.examples.push_back("key " + std::to_string(ticket.key) + ": saw '" + std::string(saw) +
                               "', sent when " + std::to_string(ticket.floor) +
                               " was sure, answered when " + std::to_string(state.newest) +
                               " was sent");
}

std::string Verifier::value_of(std::uint32_t key, std::uint32_t version) const {
  std::string value = std::to_string(options_.run) + '.' + std::to_string(key) + '.' +
                      std::to_string(version) + '.';
  const std::size_t bytes =
      options_.value_bytes_of ? options_.value_bytes_of(key) : options_.value_bytes;
  if (value.size() < bytes) value.resize(bytes, 'v');
  return value;
}

std::uint32_t Verifier::version_of(std::uint32_t key, std::string_view value) const {
  const std::size_t first = value.find('.');
  const std::size_t second = first == value.npos ? first : value.find('.', first + 1);
  if (second == value.npos) return 0;
  std::uint32_t version = 0;
  std::from_chars(value.data() + second + 1, value.data() + value.size(), version);
  const bool ours = version > 1 && !deletes(version) && version <= states_[key].newest;
  return ours && value_of(key, version) == value ? version : 0;
}

}  // namespace cleave::loadgen
