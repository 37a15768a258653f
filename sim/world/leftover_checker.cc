#include "sim/world/leftover_checker.h"

#include <algorithm>

#include "base/own_names.h"
#include "sim/world/document_checker.h"
#include "sim/world/strangers.h"

namespace cleave::sim {
namespace {

constexpr std::size_t kViolationsMax = 5;  // one broken rule breaks it again and again

// They write where and when they like.
bool is_strangers(std::string_view key) { return key.starts_with(Strangers::kPrefix); }

std::string name_of(const ring::Leftover& entry) {
  return "leftover of move " + std::to_string(entry.move.value()) + " at node " +
         std::to_string(entry.node.value());
}

bool is_own(const std::string& key) { return key.starts_with(kOwnKeyPrefix); }

// Its time is over: nobody can read it, though it lies there still.
bool is_over(Keyspace& keys, const Entry& entry) {
  return entry.expires_ms != kNever && entry.expires_ms <= keys.now_ms();
}

// The entries at a server whose ranges hold the token.
const ring::Leftover* entry_at(const ring::RingView& view, std::size_t server, Token token) {
  for (const ring::Leftover& entry : view.document().leftovers) {
    if (server_of(view, entry.node) == server && ring::contains(entry.ranges, token)) return &entry;
  }
  return nullptr;
}

}  // namespace

LeftoverChecker::LeftoverChecker(const std::vector<std::unique_ptr<ModelServer>>& servers,
                                 bool reverts)
    : servers_(servers), reverts_(reverts), lives_(servers.size()) {}

void LeftoverChecker::violation(const std::string& text) {
  if (violations_.size() < kViolationsMax) violations_.push_back("leftovers: " + text);
}

void LeftoverChecker::add_foreign(std::size_t server, const std::string& key,
                                  const std::string& value, bool owned) {
  foreign_.push_back({.server = server, .key = key, .value = value, .owned = owned});
}

bool LeftoverChecker::is_foreign(std::size_t server, const std::string& key) const {
  return std::ranges::any_of(
      foreign_, [&](const Foreign& each) { return each.server == server && each.key == key; });
}

bool LeftoverChecker::has_foreign(const ring::RingView& view, const ring::Leftover& entry) const {
  const std::size_t server = server_of(view, entry.node);
  return std::ranges::any_of(foreign_, [&](const Foreign& each) {
    return each.server == server && ring::contains(entry.ranges, view.token_of(each.key));
  });
}

void LeftoverChecker::life_changed(std::size_t server, Instant now) { lives_[server].began = now; }

void LeftoverChecker::looked(std::size_t server, Instant at) { lives_[server].looked = at; }

void LeftoverChecker::ran(const ring::RingView& view, std::size_t server,
                          std::span<const std::string> args, Instant now) {
  if (args[0] == "SCAN") lives_[server].listed = now;
  if (args.size() < 2 || args[1].starts_with(kOwnKeyPrefix)) return;
  const ring::Leftover* entry = entry_at(view, server, view.token_of(args[1]));
  if (args[0] == "RESTORE" && entry == nullptr)
    violation("a copy of " + args[1] + " is written to server " + std::to_string(server) +
              " without an entry at epoch " + std::to_string(view.epoch().value()));
  if (args[0] != "UNLINK" || entry == nullptr || entry->holder == NodeId{}) return;
  // A look showed another life of the holder, and all the same keys were listed and are deleted.
  const Life& holder = lives_[server_of(view, entry->holder)];
  const bool lost = holder.began > committed_[entry->move] && holder.looked > holder.began;
  if (lost && lives_[server].listed > holder.looked)
    violation(args[1] + " is deleted though the holder lost its data (" + name_of(*entry) + ")");
}

void LeftoverChecker::changed(const ring::RingView& before, const ring::RingView& after,
                              Instant at) {
  const ring::Document& was = before.document();
  const ring::Document& now = after.document();
  for (const ring::Leftover& entry : now.leftovers) {
    if (overlap(entry.ranges, after.owned_by(entry.node)))
      violation(name_of(entry) + " names the owner of its ranges");
    const ring::Leftover* then = ring::find_leftover(was, entry.move);
    if (then == nullptr && ring::in_use(now, entry)) entered(after, entry);
    if (entry.holder != NodeId{}) committed_.try_emplace(entry.move, at);
  }
  for (const ring::Leftover& entry : was.leftovers) {
    const ring::Leftover* then = ring::find_leftover(now, entry.move);
    if (then == nullptr || then->node != entry.node) left(before, after, entry);
  }
  for (const ring::Move& move : now.moves) {
    if (ring::find_move(was, move.id) != nullptr || move.takes_back != MoveId{}) continue;
    for (const ring::Leftover& entry : was.leftovers) {
      if (entry.node == move.destination && overlap(entry.ranges, move.ranges))
        violation("move " + std::to_string(move.id.value()) + " begins over the " + name_of(entry));
    }
  }
}

// Rule 13: the destination was looked at, and nothing lay there.
void LeftoverChecker::entered(const ring::RingView& view, const ring::Leftover& entry) {
  for (const std::string& key : keys_under(view, entry.node, entry.ranges)) {
    if (is_foreign(server_of(view, entry.node), key))
      violation(name_of(entry) + " is made over the foreign key " + key);
  }
}

// Rule 23 d, unless the entry became the range itself by its move's commit (20).
void LeftoverChecker::left(const ring::RingView& before, const ring::RingView& after,
                           const ring::Leftover& entry) {
  const ring::Move* move = ring::find_move(before.document(), entry.move);
  if (move != nullptr) {
    const ring::Leftover* source = ring::find_leftover(after.document(), entry.move);
    if (source == nullptr || source->node != move->source)
      violation(name_of(entry) + " leaves with its move, which is not committed");
    return;
  }
  for (const ring::Move& taking : before.document().moves) {
    if (taking.takes_back == entry.move) return;
  }
  if (reverts_) return;
  for (const std::string& key : keys_under(after, entry.node, entry.ranges)) {
    if (is_foreign(server_of(after, entry.node), key)) continue;
    violation(name_of(entry) + " is off, but " + key + " lies there");
  }
}

std::vector<std::string> LeftoverChecker::keys_under(const ring::RingView& view, NodeId node,
                                                     const ring::RangeSet& ranges) const {
  std::vector<std::string> found;
  Keyspace& keys = servers_[server_of(view, node)]->current();
  for (const auto& [key, entry] : keys.entries()) {
    if (is_own(key) || is_strangers(key) || is_over(keys, entry)) continue;
    if (ring::contains(ranges, view.token_of(key))) found.push_back(key);
  }
  return found;
}

void LeftoverChecker::check_foreign() {
  for (const Foreign& each : foreign_) {
    const Entry* entry = servers_[each.server]->current().peek(each.key);
    if (entry == nullptr || entry->value != Value(each.value))
      violation("foreign key " + each.key + " was deleted or overwritten");
  }
}

void LeftoverChecker::end(const ring::RingView& view) {
  check_foreign();
  for (const Foreign& each : foreign_) {
    const Token token = view.token_of(each.key);
    if (!each.owned && server_of(view, view.owner(token)) == each.server)
      violation("a move was committed onto the foreign key " + each.key);
  }
  if (reverts_) return;
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    Keyspace& keys = servers_[i]->current();
    for (const auto& [key, entry] : keys.entries()) {
      if (is_own(key) || is_strangers(key) || is_over(keys, entry) || is_foreign(i, key)) continue;
      const Token token = view.token_of(key);
      if (server_of(view, view.owner(token)) == i || entry_at(view, i, token) != nullptr) continue;
      violation("a copy of " + key + " stays at server " + std::to_string(i));
    }
  }
}

}  // namespace cleave::sim
