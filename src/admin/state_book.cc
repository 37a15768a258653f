#include "admin/state_book.h"

#include <algorithm>
#include <array>

#include "admin/leftover_troubles.h"
#include "control/observe/info_facts.h"

namespace cleave::admin {
namespace {

using Level = StateChange::Level;

// A server that refused no command for so long is taken to refuse none any more.
constexpr std::int64_t kRefusedLatelyMs = 10'000;

// What ends by itself a moment later is not worth a line: a server is adopted just after the start;
// a coordinator that refuses a write has not yet shown that it still answers.
std::int64_t patience_ms(Trouble trouble) {
  switch (trouble) {
    case Trouble::kNodeUnmarked: return 3'000;
    case Trouble::kCoordinatorAway: return 400;
    default: return 0;
  }
}

constexpr std::array<std::string_view, kTroubles> kNames = {
    "coordinator-away",     "coordinator-read-only", "ring-unusable",       "node-down",
    "node-refusing",        "node-replica",          "node-full",           "node-evicts",
    "node-unmarked",        "node-foreign-mark",     "node-foreign-writes", "node-twin",
    "node-other-databases", "node-refuses-commands", "node-refuses-moves",  "accepting-paused",
    "leftover-kept",        "leftover-waits"};

std::string over_text(const TroubleKey& key) {
  const std::string node = "node " + key.node;
  const std::string left = node + ": what move " + std::to_string(key.move.value()) + " left there";
  switch (key.trouble) {
    case Trouble::kCoordinatorAway: return "the coordinator is back";
    case Trouble::kCoordinatorReadOnly: return "the coordinator takes writes again";
    case Trouble::kRingUnusable: return "the coordinator holds a ring that this router can take";
    case Trouble::kNodeDown: return node + " is up again";
    case Trouble::kNodeRefusing: return node + " serves again";
    case Trouble::kNodeReplica: return node + " is a primary again";
    case Trouble::kNodeFull: return node + " has memory again";
    case Trouble::kNodeEvicts: return node + " evicts nothing any more";
    case Trouble::kNodeUnmarked: return node + " carries this pool's marker now";
    case Trouble::kNodeForeignMark: return node + " carries no other pool's marker any more";
    case Trouble::kNodeForeignWrites: return node + " is not written to past the routers any more";
    case Trouble::kNodeTwin: return node + " is a server of its own now";
    case Trouble::kNodeOtherDatabases: return node + " holds keys in database 0 only";
    case Trouble::kNodeRefusesCommands: return node + " has refused no command lately";
    case Trouble::kNodeRefusesMoves: return node + " may take part in moves again";
    case Trouble::kAcceptingPaused: return "accepting clients again";
    case Trouble::kLeftoverKept: return left + " is kept no more";
    case Trouble::kLeftoverWaits: return left + " is being cleaned, or is gone";
  }
  return node;
}

// 3'200 -> "3.2 s", 75'000 -> "75 s", 7'500'000 -> "125 min".
std::string time_text(std::int64_t milliseconds) {
  const std::int64_t ms = std::max<std::int64_t>(milliseconds, 0);
  if (ms < 10'000) return std::to_string(ms / 1'000) + "." + std::to_string(ms / 100 % 10) + " s";
  if (ms < 600'000) return std::to_string(ms / 1'000) + " s";
  return std::to_string(ms / 60'000) + " min";
}

// A server that says no tells it by one of these words (Redis' and Valkey's error codes).
bool is_refusal(std::string_view error) {
  constexpr std::array<std::string_view, 15> kWords = {
      "ERR",        "NOAUTH",     "WRONGPASS",   "NOPERM", "LOADING",
      "BUSY",       "MISCONF",    "MASTERDOWN",  "DENIED", "READONLY",
      "NOREPLICAS", "UNKILLABLE", "CLUSTERDOWN", "OOM",    "cluster mode"};
  return std::ranges::any_of(kWords, [error](std::string_view word) {
    const std::size_t at = error.find(word);
    if (at == std::string_view::npos) return false;
    const std::size_t end = at + word.size();
    return (at == 0 || error[at - 1] == ' ') &&
           (end == error.size() || error[end] == ' ' || error[end] == ')' || error[end] == ':' ||
            word == "cluster mode");
  });
}

// Collects what is wrong and what is not of one node.
class OfNode {
 public:
  OfNode(Observed& observed, std::string name) : observed_(observed), name_(std::move(name)) {}

  void judge(Trouble trouble, bool wrong, const std::string& text) {
    TroubleKey key{.trouble = trouble, .node = name_};
    if (wrong) {
      observed_.wrong.emplace(std::move(key), "node " + name_ + " " + text);
    } else {
      observed_.right.insert(std::move(key));
    }
  }

 private:
  Observed& observed_;
  std::string name_;
};

void observe_health(OfNode& node, const proxy::NodeHealth& health) {
  // Before the first answer nothing is known, not even that it is away.
  const bool asked = health.up || health.error != "not asked yet";
  if (!asked) return;
  const bool refuses = !health.up && is_refusal(health.error);
  node.judge(Trouble::kNodeRefusing, refuses, "refuses: " + health.error);
  node.judge(Trouble::kNodeDown, !health.up && !refuses, "is down: " + health.error);
  if (!health.up || health.identity.incarnation.run_id.empty()) return;
  node.judge(Trouble::kNodeReplica, !health.identity.primary,
             "is a replica: it takes no writes, and no move touches it");
}

// Two names of one server: its keys would be counted twice, and no move between them is possible.
void observe_twin(OfNode& node, const proxy::NodeHealth& health, const Seen& seen) {
  const std::string& run_id = health.identity.incarnation.run_id;
  if (!health.up || run_id.empty()) return;
  const auto other = std::ranges::find_if(seen.health, [&](const proxy::NodeHealth& each) {
    return each.node != health.node && each.identity.incarnation.run_id == run_id;
  });
  const bool twin = other != seen.health.end();
  const ring::Node* const named =
      twin ? ring::find_node(seen.status.view->document(), other->node) : nullptr;
  node.judge(Trouble::kNodeTwin, twin,
             "is the same server as node " + (named == nullptr ? "?" : named->name) +
                 ": drain and remove one of the two");
}

// Full at 99 % of the limit, and until it is below 95 %.
bool is_full(const control::NodeFacts& facts, bool was) {
  const std::uint64_t most = facts.memory_bytes_max;
  return most > 0 && facts.memory_bytes >= most / 100 * (was ? 95 : 99);
}

void observe_server(OfNode& node, const control::NodeFacts& facts, const Seen& seen,
                    bool was_full) {
  if (!facts.reachable) return;
  const bool keeps = facts.eviction_policy.empty() || facts.eviction_policy == "noeviction";
  node.judge(Trouble::kNodeFull, keeps && is_full(facts, was_full),
             "is full: it uses " + std::to_string(facts.memory_bytes) + " of " +
                 std::to_string(facts.memory_bytes_max) + " bytes and refuses writes");
  node.judge(Trouble::kNodeEvicts, seen.store && !keeps,
             "may delete keys: maxmemory-policy is " + facts.eviction_policy +
                 ", but the pool is a store; set noeviction, or say 'kind: cache'");
  node.judge(Trouble::kNodeForeignMark, !facts.foreign_mark.empty(),
             "carries the marker of another pool: no move touches it");
  node.judge(Trouble::kNodeUnmarked, !facts.marked && facts.foreign_mark.empty(),
             "is not adopted: no move touches it; see `cleave adopt`");
  node.judge(Trouble::kNodeOtherDatabases, !facts.databases.empty(),
             "holds keys that no client reaches through a router, in " +
                 control::describe(facts.databases));
  node.judge(Trouble::kNodeForeignWrites, facts.foreign_writes,
             "gets about " + std::to_string(facts.unattributed_writes) +
                 " writes/s past the routers: no planned move touches it");
  node.judge(Trouble::kNodeRefusesMoves, !facts.refuses.empty(),
             "rests from moves: " + facts.refuses);
}

void observe_nodes(Observed& observed, const Seen& seen, const StateBook& book) {
  for (const ring::Node& node : seen.status.view->document().nodes) {
    OfNode of(observed, node.name);
    const auto health = std::ranges::find(seen.health, node.id, &proxy::NodeHealth::node);
    if (health != seen.health.end()) {
      observe_health(of, *health);
      observe_twin(of, *health, seen);
    }
    const auto facts = std::ranges::find(seen.status.nodes, node.id, &control::NodeFacts::node);
    if (facts == seen.status.nodes.end()) continue;
    const bool was_full = book.standing().contains({Trouble::kNodeFull, node.name});
    observe_server(of, *facts, seen, was_full);
  }
}

void observe_router(Observed& observed, const Seen& seen) {
  TroubleKey key{.trouble = Trouble::kAcceptingPaused, .node = ""};
  if (seen.router.accepting) {
    observed.right.insert(std::move(key));
  } else {
    observed.wrong.emplace(std::move(key),
                           "accepting clients pauses: this process may open no more files and "
                           "sockets (ulimit -n, LimitNOFILE), and the last ones are kept for "
                           "servers and the admin interface; new clients wait");
  }
  for (const proxy::NodeTraffic& node : seen.router.nodes) {
    const ring::Node* named = seen.status.view == nullptr
                                  ? nullptr
                                  : ring::find_node(seen.status.view->document(), node.node);
    if (named == nullptr) continue;
    for (std::size_t i = 0; i < proxy::kErrorCauses; ++i) {
      const auto cause = static_cast<proxy::ErrorCause>(i);
      if (is_refusal(cause)) observed.refused[named->name][cause] = node.errors[i];
    }
  }
}

void observe_coordinator(Observed& observed, const control::Status& status) {
  using enum control::CoordinatorState;
  const auto judge = [&](Trouble trouble, control::CoordinatorState state, const char* what) {
    TroubleKey key{.trouble = trouble, .node = ""};
    if (status.coordinator_state == state) {
      observed.wrong.emplace(std::move(key), what + status.coordinator);
    } else {
      observed.right.insert(std::move(key));
    }
  };
  judge(Trouble::kCoordinatorAway, kAway, "the coordinator is away: ");
  judge(Trouble::kCoordinatorReadOnly, kReadOnly, "the coordinator takes no writes: ");
  judge(Trouble::kRingUnusable, kRingUnusable, "");
}

// What is kept every router reads in the document; what waits only the leader knows.
void observe_leftovers(Observed& observed, const control::Status& status, const StateBook& book) {
  for (const control::LeftoverStatus& left : status.leftovers) {
    const ring::Node* const node = ring::find_node(status.view->document(), left.entry.node);
    TroubleKey key{.trouble = Trouble::kLeftoverKept,
                   .node = node == nullptr ? "" : node->name,
                   .move = left.entry.move};
    if (left.entry.kept()) observed.wrong.emplace(key, kept_text(status, left.entry));
    key.trouble = Trouble::kLeftoverWaits;
    if (!left.stuck.empty() && left.stuck_for >= kLeftoverPatience)
      observed.wrong.emplace(std::move(key), waits_text(status, left));
  }
  for (const auto& [key, standing] : book.standing()) {
    const bool known = key.trouble == Trouble::kLeftoverKept ||
                       (key.trouble == Trouble::kLeftoverWaits && status.leader);
    if (known && !observed.wrong.contains(key)) observed.right.insert(key);
  }
}

}  // namespace

std::string_view to_string(Trouble trouble) { return kNames[static_cast<std::size_t>(trouble)]; }

Observed observe(const Seen& seen, const StateBook& book) {
  Observed observed;
  observed.clients_shed = seen.router.clients_shed;
  observed.last_shed = seen.router.last_shed;
  observe_router(observed, seen);
  observe_coordinator(observed, seen.status);
  if (seen.status.view == nullptr) return observed;
  const ring::Document& document = seen.status.view->document();
  observed.leader = document.leader.session.value();
  observed.term = document.leader.term;
  if (const ring::Router* leader = ring::find_router(document, document.leader.session)) {
    observed.leader_at = leader->peer;
  }
  observed.mode = document.mode;
  observed.frozen = document.frozen;
  observe_nodes(observed, seen, book);
  observe_leftovers(observed, seen.status, book);
  return observed;
}

std::vector<StateChange> StateBook::look(Observed now, UnixMillis wall) {
  std::vector<StateChange> changes;
  judge_refusals(now, wall);
  take_right(now, wall, changes);
  take_wrong(now, wall, changes);
  take_values(now, changes);
  last_ = std::move(now);
  return changes;
}

// By counters that grow: the words of a server that says no, whoever heard them.
void StateBook::judge_refusals(Observed& now, UnixMillis wall) {
  for (const auto& [node, counts] : now.refused) {
    std::string words;
    for (const auto& [cause, count] : counts) {
      const auto known = last_.refused.find(node);
      const auto before = known == last_.refused.end() ? std::uint64_t{0} : known->second.at(cause);
      const auto at = refused_at_.find({node, cause});
      if (count > before) {
        refused_at_[{node, cause}] = wall;
      } else if (at == refused_at_.end() || wall.value() - at->second.value() > kRefusedLatelyMs) {
        continue;
      }
      words += (words.empty() ? "" : ", ") + std::string(to_string(cause));
    }
    TroubleKey key{.trouble = Trouble::kNodeRefusesCommands, .node = node};
    if (words.empty()) {
      now.right.insert(std::move(key));
    } else {
      now.wrong.emplace(std::move(key), "node " + node + " refuses commands of clients: " + words);
    }
  }
}

// What is neither wrong nor known to be right is forgotten in silence: nobody looks any more.
void StateBook::take_right(const Observed& now, UnixMillis wall,
                           std::vector<StateChange>& changes) {
  for (auto it = standing_.begin(); it != standing_.end();) {
    const auto& [key, standing] = *it;
    if (now.wrong.contains(key)) {
      ++it;
      continue;
    }
    if (now.right.contains(key) && standing.told) {
      changes.push_back(
          {.level = Level::kInfo,
           .event = std::string(to_string(key.trouble)) + "-over",
           .node = key.node,
           .text = over_text(key) + ", after " + time_text(wall.value() - standing.since.value())});
    }
    it = standing_.erase(it);
  }
}

void StateBook::take_wrong(const Observed& now, UnixMillis wall,
                           std::vector<StateChange>& changes) {
  for (const auto& [key, text] : now.wrong) {
    Standing& standing =
        standing_.try_emplace(key, Standing{.text = text, .since = wall}).first->second;
    standing.text = text;
    if (standing.told || wall.value() - standing.since.value() < patience_ms(key.trouble)) continue;
    standing.told = true;
    changes.push_back({.level = Level::kWarning,
                       .event = std::string(to_string(key.trouble)),
                       .node = key.node,
                       .text = text});
  }
}

void StateBook::take_values(const Observed& now, std::vector<StateChange>& changes) const {
  const auto tell = [&](Level level, const char* event, std::string text) {
    changes.push_back({.level = level, .event = event, .node = "", .text = std::move(text)});
  };
  if (now.leader != last_.leader || now.term != last_.term) {
    const std::string term = "term " + std::to_string(now.term.value());
    if (!now.leader.empty()) {
      tell(Level::kInfo, "leader",
           "router " + now.leader + (now.leader_at.empty() ? "" : " at " + now.leader_at) +
               " leads, " + term);
    } else if (!last_.leader.empty()) {
      tell(Level::kWarning, "leader", "nobody leads: router " + last_.leader + " is gone");
    }
  }
  if (now.mode && last_.mode && now.mode != last_.mode) {
    tell(Level::kInfo, "mode",
         "mode is " + std::string(ring::to_string(*now.mode)) + ", it was " +
             std::string(ring::to_string(*last_.mode)));
  }
  if (now.mode && now.frozen != last_.frozen) {
    tell(Level::kInfo, "frozen",
         now.frozen ? "the pool is frozen: no move begins" : "the pool is frozen no more");
  }
  if (now.clients_shed > last_.clients_shed) {
    const std::uint64_t more = now.clients_shed - last_.clients_shed;
    tell(Level::kWarning, "client-shed",
         (more == 1 ? std::string("a client was closed")
                    : std::to_string(more) + " clients were closed, the last") +
             ": " + now.last_shed);
  }
}

}  // namespace cleave::admin
