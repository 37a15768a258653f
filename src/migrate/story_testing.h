// A move's world, for the tests of Migration.

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "migrate/migration.h"

namespace cleave::migrate {

inline constexpr ring::TokenRange kRange{Token{100}, Token{199}};

// A move from node 1 to node 2 with two routers, and the world around it: the document is real
// (ring/edits/edits.h), servers and routers answer what a test tells them.
class Story {
 public:
  Story() {
    ring::Creation creation{.pool = "main", .mark = "m", .nodes = {}, .mode = {}, .now = {}};
    for (const char* name : {"a", "b", "c"}) {
      ring::Node node;
      node.name = name;
      node.members = {{std::string("127.0.0.1:700") + name[0], ""}};
      node.members[0].address = "127.0.0.1:" + std::to_string(7001 + creation.nodes.size());
      creation.nodes.push_back(node);
    }
    document_ = *ring::create(creation);
    document_ = *ring::join(document_, {.session = SessionId{"r1"}});
    document_ = *ring::join(document_, {.session = SessionId{"r2"}});
    document_ = *ring::lead(document_, SessionId{"r1"});
    // Node 1 owns the range through a cut, whatever the base says.
    document_.cuts = {
        {.range = kRange, .node = NodeId{1}, .reason = "t", .created = {}, .pinned_until = {}}};
    facts_a_ = {.incarnation = {"run-a", "repl-a"}, .primary = true, .marked = true};
    facts_b_ = {.incarnation = {"run-b", "repl-b"}, .primary = true, .marked = true};
  }

  Migration make(Mutations mutations = {}, std::size_t kept_behind = 0) {
    return Migration({.ranges = {kRange},
                      .source = NodeId{1},
                      .destination = NodeId{2},
                      .reason = "test",
                      .now = UnixMillis{1}},
                     {.limits = limits_, .mutations = mutations, .kept_behind = kept_behind});
  }

  // Applies the edit of a Write and tells the machine.
  Actions write(Migration& move, Change change) {
    Result<ring::Document> next = move.edit(change, document_, UnixMillis{2});
    if (!next) return move.step(WriteRefused{next.error().message}, now_);
    document_ = *next;
    return move.step(Written{shared()}, now_);
  }

  std::shared_ptr<const ring::Document> shared() const {
    return std::make_shared<const ring::Document>(document_);
  }

  // Up to COPYING acknowledged by both routers: the next action is the first page.
  Actions to_scan(Migration& move) {
    move.step(Start{}, now_);
    move.step(Identified{facts_a_, facts_b_}, now_);
    write(move, Change::kBegin);
    move.step(Swept{}, now_);
    move.step(Checked{}, now_);
    write(move, Change::kEnter);
    move.step(CopyingAcked{SessionId{"r1"}}, now_);
    return move.step(CopyingAcked{SessionId{"r2"}}, now_);
  }

  // Scan of one page, an empty round, fenced.
  Actions to_fenced(Migration& move) {
    to_scan(move);
    move.step(ScanPage{.keys = {"k1", "k2"}, .last = true}, now_);
    move.step(Copied{.keys = 2, .bytes = 20, .unmovable = {}}, now_);
    take(move, "r1", {});
    take(move, "r2", {});
    return write(move, Change::kFence);
  }

  Actions take(Migration& move, const std::string& router, std::vector<std::string> keys,
               std::uint64_t number = 1) {
    return move.step(Taken{SessionId{router}, number, std::move(keys), false}, now_);
  }

  Actions take_elements(Migration& move, const std::string& router, std::vector<Touched> touched,
                        std::uint64_t number) {
    return move.step(Taken{SessionId{router}, number, {}, false, std::move(touched)}, now_);
  }

  // One key in pieces, whose whole copy took long. The number of the take under way.
  std::uint64_t to_big_copied(Migration& move) {
    to_scan(move);
    move.step(ScanPage{.keys = {"big"}, .last = true}, now_);
    move.step(Copied{.pieces = {"big"}}, now_);
    for (const std::uint64_t number : {1U, 2U}) {
      take(move, "r1", {}, number);
      take(move, "r2", {}, number);
    }
    move.step(Copied{.keys = 1, .big = {"big"}}, now_);
    return 3;
  }

  Actions fenced_ack(Migration& move, const std::string& router,
                     std::vector<std::string> keys = {}) {
    return move.step(FencedAcked{SessionId{router}, std::move(keys), false, {}}, now_);
  }

  ring::Document document_;
  ServerFacts facts_a_;
  ServerFacts facts_b_;
  Limits limits_;
  Instant now_{1};
};

template <class Wanted>
bool has(const Actions& actions) {
  return std::ranges::any_of(
      actions, [](const Action& action) { return std::holds_alternative<Wanted>(action); });
}

inline bool writes(const Actions& actions, Change change) {
  return std::ranges::any_of(actions, [&](const Action& action) {
    const auto* write = std::get_if<Write>(&action);
    return write != nullptr && write->change == change;
  });
}

}  // namespace cleave::migrate
