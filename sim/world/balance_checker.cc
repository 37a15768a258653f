#include "sim/world/balance_checker.h"

#include <algorithm>

#include "sim/world/document_checker.h"
#include "sim/world/mover.h"

namespace cleave::sim {
namespace {

constexpr std::size_t kComplaintsMax = 5;
constexpr std::int64_t kKept = 64;  // seconds
// A leader knows what commands cost after two looks at the servers' counters, each 10 s, and how
// hot it is ten seconds later.
constexpr seconds kKnows{35};
// Level for so long: whatever was begun before is over, and what has begun to be seen is forgotten.
constexpr std::int64_t kLevelFor = 40;
constexpr double kLevel = 1.04;
constexpr std::int64_t kPlannersMean = 10;
// And then for so long: work that was begun ends after plans that find nothing more (polish_plans),
// and the mean of a time in which keys moved tells the level late.
constexpr seconds kSettles{10};
// Hot beyond any doubt, and for longer than three of five ticks, a mean of ten seconds and a move
// of the slowest worlds take.
constexpr double kHot = 1.7;
constexpr double kHotUse = 0.08;
constexpr seconds kHotMax{45};
constexpr std::int64_t kHotOver = 10;
// Plans are made each two seconds, and not while a range is fenced.
constexpr seconds kPlanAge{6};
// Two looks at the counters, each 10 s, that nothing else spoils; and what was seen is held to go
// on for a minute.
constexpr seconds kNoticed{50};
constexpr seconds kForgiven{95};
// What is known now may have been planned before.
constexpr seconds kPlanned{10};
constexpr std::int64_t kHeavyOver = 30;
constexpr double kHeavy = 0.5;  // of what makes a token a heavy one

double share(nanoseconds part, nanoseconds whole) {
  return whole == nanoseconds{0}
             ? 0
             : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Of load or bytes: not a person's, nor of what a person's orders make go home.
bool is_balancers(const ring::Move& move) {
  const auto begins = [&](std::string_view cause) { return move.reason.starts_with(cause); };
  return move.takes_back == MoveId{} && move.reason != Mover::kReason && !begins("join") &&
         !begins("drain") && !begins("flatten");
}

// Wanted, and perhaps not in the document yet.
bool moves_it(const balance::Plan& plan, NodeId node) {
  return std::ranges::any_of(plan.moves, [&](const balance::PlannedMove& move) {
    return move.source == node || move.destination == node;
  });
}

std::int64_t second_of(Instant now) { return now / seconds{1}; }

std::string percent(double value) {
  return std::to_string(static_cast<std::int64_t>(value * 100)) + " %";
}

}  // namespace

BalanceChecker::BalanceChecker(std::size_t servers, const balance::Constants& constants,
                               const Strangers& strangers)
    : constants_(constants), strangers_(strangers), servers_(servers) {}

void BalanceChecker::violation(const std::string& text) {
  if (violations_.size() < kComplaintsMax) violations_.push_back("balance: " + text);
}

// ---- what the servers had to do -----------------------------------------------------------------

void BalanceChecker::ran(std::size_t server, std::string_view key, nanoseconds took, Instant now) {
  if (seconds_.empty() || seconds_.back().number != second_of(now)) {
    seconds_.push_back({.number = second_of(now),
                        .servers = std::vector<nanoseconds>(servers_.size()),
                        .keys = {}});
    if (seconds_.size() > static_cast<std::size_t>(kKept)) seconds_.pop_front();
  }
  seconds_.back().servers[server] += took;
  seconds_.back().keys[std::string(key)] += took;
}

nanoseconds BalanceChecker::load(std::size_t server, std::int64_t over, Instant now) const {
  nanoseconds sum{0};
  for (const Second& each : seconds_) {
    const std::int64_t age = second_of(now) - each.number;
    if (age >= 1 && age <= over) sum += each.servers[server];
  }
  return sum / over;
}

nanoseconds BalanceChecker::fair(std::int64_t over, Instant now) const {
  nanoseconds sum{0};
  for (std::size_t i = 0; i < servers_.size(); ++i) sum += load(i, over, now);
  return sum / static_cast<std::int64_t>(servers_.size());
}

// By the mean of ten seconds that the planner goes by, at some time at which the move may have been
// planned: of few requests that one swings, and work that goes on goes by it.
bool BalanceChecker::seemed_high(std::size_t server, Instant now) const {
  for (seconds ago{0}; ago <= kPlanned; ++ago) {
    const Instant then = now - ago;
    if (share(load(server, kPlannersMean, then), fair(kPlannersMean, then)) > kLevel) return true;
  }
  return false;
}

bool BalanceChecker::level(std::int64_t over, Instant now) const {
  const nanoseconds mean = fair(over, now);
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (share(load(i, over, now), mean) > kLevel) return false;
  return true;
}

// ---- the document -------------------------------------------------------------------------------

std::size_t BalanceChecker::cuts_max(const ring::RingView& view) const {
  return std::min<std::size_t>(view.document().nodes.size() * constants_.cuts_per_node,
                               constants_.cuts_max);
}

void BalanceChecker::changed(const ring::RingView& before, const ring::RingView& after,
                             Instant now) {
  const ring::Document& was = before.document();
  const ring::Document& is = after.document();
  if (is.frozen || was.frozen) frozen_ = now;
  const ring::Move* ours = nullptr;  // that has ended
  for (const ring::Move& move : was.moves) {
    under_way(before, move, now);
    servers_[server_of(before, move.source)].moved = true;
    servers_[server_of(before, move.destination)].moved = true;
    if (is_balancers(move) && ring::find_move(is, move.id) == nullptr) ours = &move;
  }
  for (const ring::Move& move : is.moves) {
    if (ring::find_move(was, move.id) == nullptr) began(after, move, now);
  }
  if (is.cuts.size() <= was.cuts.size()) return;
  if (ours != nullptr) return judge_cuts(after, *ours);
  others_laid_.push_back({now, is.cuts.size() - was.cuts.size()});
}

// What others have laid since it was planned, the planner could not know.
void BalanceChecker::judge_cuts(const ring::RingView& view, const ring::Move& ended) {
  std::size_t allowed = cuts_max(view);
  const auto begun = begun_.find(ended.id);
  const Instant planned = begun == begun_.end() ? Instant{0} : begun->second - kPlanned;
  for (const Laid& each : others_laid_)
    if (each.when >= planned) allowed += each.cuts;
  const std::size_t cuts = view.document().cuts.size();
  if (cuts > allowed)
    violation("the pool has " + std::to_string(cuts) + " cuts, " + std::to_string(allowed) +
              " are allowed");
}

void BalanceChecker::under_way(const ring::RingView& view, const ring::Move& move, Instant now) {
  Server& source = servers_[server_of(view, move.source)];
  source.moving = source.gave = now;
  servers_[server_of(view, move.destination)].moving = now;
}

void BalanceChecker::began(const ring::RingView& view, const ring::Move& move, Instant now) {
  const std::size_t source = server_of(view, move.source);
  const std::size_t destination = server_of(view, move.destination);
  if (!is_balancers(move)) return;
  begun_[move.id] = now;
  const auto known = [&](std::size_t server) {
    const Instant accused = servers_[server].accused;
    return accused != Instant{0} && now - accused > kPlanned;
  };
  if (known(source) || known(destination))
    violation("a move begins at a server that strangers write to: " + move.reason);
  if (calm_ == Instant{0} || now - calm_ < kKnows) return;
  if (now - leads_since_ < kKnows) return;
  if (level_since_ != Instant{0} && now - level_since_ > kSettles && !seemed_high(source, now))
    violation("a settled pool makes a move: " + move.reason);
}

// ---- what the leader says -----------------------------------------------------------------------

void BalanceChecker::look(const control::Status& leader, Instant now) {
  if (leader.view == nullptr) return;
  if (leader_ != leader.session.value()) {
    leader_ = leader.session.value();
    leads_since_ = now;
  }
  for (const ring::Move& move : leader.view->document().moves) under_way(*leader.view, move, now);
  if (leader.view->document().frozen) frozen_ = now;
  if (!level(kLevelFor, now))
    level_since_ = Instant{0};
  else if (level_since_ == Instant{0})
    level_since_ = now;
  judge_strangers(leader, now);
  if (calm_ == Instant{0} || now - leads_since_ < kKnows || now - calm_ < kKnows) return;
  if (leader.plan == nullptr) return violation("no plan was ever made by " + leader_);
  for (const balance::Verdict& verdict : leader.plan->verdicts)
    judge(verdict, *leader.plan, *leader.view, now);
  judge_hot(leader, now);
}

void BalanceChecker::judge_strangers(const control::Status& leader, Instant now) {
  for (const control::NodeFacts& facts : leader.nodes) {
    const std::size_t index = server_of(*leader.view, facts.node);
    Server& server = servers_[index];
    if (!facts.foreign_writes) server.accused = Instant{0};
    if (facts.foreign_writes && server.accused == Instant{0}) server.accused = now;
    if (facts.foreign_writes && !strange(index, now))
      violation("server " + std::to_string(index) +
                " is said to be written to past the routers, which nobody does");
    const Instant since = strangers_.since(index);
    const Instant quiet = std::max({since, calm_, leads_since_, server.moving});
    if (since == Instant{0} || calm_ == Instant{0} || facts.foreign_writes) continue;
    if (now - quiet > kNoticed)
      violation("nobody notices what is written past the routers to server " +
                std::to_string(index));
  }
}

// Somebody writes to it past the routers, or did so not long ago.
bool BalanceChecker::strange(std::size_t server, Instant now) const {
  const Instant last = strangers_.last(server);
  return last != Instant{0} && now - last <= kForgiven;
}

void BalanceChecker::judge_hot(const control::Status& leader, Instant now) {
  const nanoseconds mean = fair(kHotOver, now);
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Server& server = servers_[i];
    const nanoseconds here = load(i, kHotOver, now);
    const NodeId node = leader.view->document().nodes[i].id;
    const bool told = std::ranges::any_of(leader.plan->verdicts, [&](const auto& verdict) {
      return verdict.node == node || verdict.node == NodeId{};
    });
    const bool hot = share(here, mean) > kHot && share(here - mean, seconds{1}) > kHotUse;
    if (!hot || told || now - server.gave < kPlanAge) {
      server.hot = Instant{0};
    } else if (server.hot == Instant{0}) {
      server.hot = now;
    } else if (now - server.hot > kHotMax) {
      violation("server " + std::to_string(i) + " is at " + percent(share(here, mean)) +
                " of the mean for too long, and nothing is done or said");
      server.hot = now;
    }
  }
}

void BalanceChecker::judge(const balance::Verdict& verdict, const balance::Plan& plan,
                           const ring::RingView& view, Instant now) {
  const std::string no = why_untrue(verdict, plan, view, now);
  if (!no.empty())
    violation("verdict " + std::string(to_string(verdict.why)) + " of node " +
              std::to_string(verdict.node.value()) + " is not so: " + no + " (" + verdict.text +
              ")");
}

std::string BalanceChecker::why_untrue(const balance::Verdict& verdict, const balance::Plan& plan,
                                       const ring::RingView& view, Instant now) const {
  using balance::Why;
  const bool pool = verdict.node == NodeId{};
  const std::size_t index = pool ? 0 : server_of(view, verdict.node);
  if (index >= servers_.size()) return "there is no such node";
  const Server& server = servers_[index];
  switch (verdict.why) {
    case Why::kFrozen: return now - frozen_ <= kPlanAge ? "" : "nobody froze anything";
    case Why::kUpgrade: return "all routers are of one version";
    case Why::kScheme: return "the scheme can be cut";
    case Why::kNoHeat: return "all routers answer";
    case Why::kTooManyDown: return "all servers are up";
    case Why::kBadInput: return "all that is told is true";
    case Why::kUsual: return "nobody has said what is usual";
    case Why::kSample: return "no server has a limit of memory";
    case Why::kInFlight:
      return now - server.moving <= kPlanAge || moves_it(plan, verdict.node)
                 ? ""
                 : "no move of it is under way";
    case Why::kVeto: return why_free(verdict, index, now);
    case Why::kRests:
    case Why::kDwell: return server.moved ? "" : "it never took part in a move";
    case Why::kCuts:
      return 2 * view.document().cuts.size() >= cuts_max(view) ? "" : "there are few cuts";
    case Why::kUnsplittable: return why_splittable(verdict, view, now);
    default: return "";
  }
}

std::string BalanceChecker::why_free(const balance::Verdict& verdict, std::size_t server,
                                     Instant now) const {
  const auto says = [&](std::string_view words) { return verdict.text.contains(words); };
  if (says("marker")) return unmarked_.contains(server) ? "" : "it carries the marker";
  if (says("its last move was refused")) return may_refuse_ ? "" : "nothing was refused";
  return strange(server, now) ? "" : "nothing stands against it";
}

std::string BalanceChecker::why_splittable(const balance::Verdict& verdict,
                                           const ring::RingView& view, Instant now) const {
  if (!verdict.token) return "it names no token";
  nanoseconds token{0};
  for (const Second& each : seconds_) {
    const std::int64_t age = second_of(now) - each.number;
    if (age < 1 || age > kHeavyOver) continue;
    for (const auto& [key, took] : each.keys)
      if (view.token_of(key) == *verdict.token) token += took;
  }
  const double heavy = share(token / kHeavyOver, fair(kHeavyOver, now));
  if (heavy < kHeavy * constants_.heavy_ppm / 1e6)
    return "the token has only " + percent(heavy) + " of a fair load";
  if (!verdict.key.empty() && view.token_of(verdict.key) != *verdict.token)
    return "the key is not of that token";
  return "";
}

}  // namespace cleave::sim
