// What servers and clocks take away without anybody's fault: the history is told, so that it is not
// held against the routers.
#include <algorithm>

#include "sim/world/world.h"

namespace cleave::sim {

// Only the owner's loss is the key's: what another server loses must not matter to anybody, unless
// it becomes the owner before anybody can see the loss.
void World::lost_writes(std::size_t server, const std::set<std::string>& keys) {
  const ring::RingSnapshot& view = checker_.view();
  if (view == nullptr) return;
  for (const auto& [key, place] : workload_->places()) {
    if (!keys.contains(place.key)) continue;
    const Token token = view->token_of(place.key);
    const bool owner = view->owner(token) == view->document().nodes[server].id;
    const std::int64_t value = value_at(server, key);
    if (const ring::Move* move = looked_at(*view, server, token); move != nullptr)
      unseen_losses_.push_back({.move = move->id,
                                .server = server,
                                .of_source = owner,
                                .key = key,
                                .when = scheduler_.now(),
                                .value = value});
    else if (owner)
      workload_->history().lost_at_server(key, scheduler_.now(), value);
  }
}

std::int64_t World::value_at(std::size_t server, const std::string& key) {
  const Place& place = workload_->places().at(key);
  const Entry* entry = servers_[server]->current().peek(place.key);
  if (entry == nullptr) return kAbsent;
  if (const auto* hash = std::get_if<HashValue>(&entry->value)) {
    const auto field = hash->find(place.element);
    return field == hash->end() ? kAbsent : stored_number(field->second);
  }
  if (const auto* set = std::get_if<SetValue>(&entry->value))
    return set->contains(place.element) ? 1 : kAbsent;
  if (const auto* zset = std::get_if<ZsetValue>(&entry->value)) {
    const auto member = zset->find(place.element);
    return member == zset->end() ? kAbsent : static_cast<std::int64_t>(member->second);
  }
  return stored_number(std::get<std::string>(entry->value));
}

// The fenced move of that token with the server at one end, if the driver has looked at it since.
const ring::Move* World::looked_at(const ring::RingView& view, std::size_t server,
                                   Token token) const {
  const NodeId node = view.document().nodes[server].id;
  for (const ring::Move& move : view.document().moves) {
    if (move.phase != ring::Phase::kFenced || !ring::contains(move.ranges, token)) continue;
    if (move.takes_back != MoveId{}) continue;  // nothing is compared
    if (move.source != node && move.destination != node) continue;
    const auto fenced = fenced_at_.find(move.id);
    if (fenced != fenced_at_.end() && looks_[server].last >= fenced->second) return &move;
  }
  return nullptr;
}

// A loss at the source is the key's unless the move commits, one at the destination if it does.
void World::settle_losses(const ring::RingView& before, const ring::RingView& after) {
  for (const ring::Move& move : after.document().moves)
    if (move.phase == ring::Phase::kFenced) fenced_at_.try_emplace(move.id, scheduler_.now());
  for (const ring::Move& was : before.document().moves) {
    if (was.phase != ring::Phase::kFenced || ring::find_move(after.document(), was.id) != nullptr)
      continue;
    const bool commits = is_committed(was, after.document());
    if (commits) was.takes_back == MoveId{} ? settle_expiries(was) : settle_taking_back(was);
    for (const UnseenLoss& loss : unseen_losses_) {
      if (loss.move != was.id || loss.of_source == commits) continue;
      const bool at_source = loss.of_source;
      workload_->history().lost_at_server(loss.key, at_source ? loss.when : scheduler_.now(),
                                          at_source ? loss.value : value_at(loss.server, loss.key));
    }
    std::erase_if(unseen_losses_, [&](const UnseenLoss& loss) { return loss.move == was.id; });
  }
}

// Rule 26: what the other node has acknowledged since the commit is given up, which is what a
// person was told.
void World::settle_taking_back(const ring::Move& move) {
  const std::size_t server = server_of(*checker_.view(), move.destination);
  for (const auto& [key, place] : workload_->places()) {
    if (ring::contains(move.ranges, checker_.view()->token_of(place.key)))
      workload_->history().lost_at_server(key, scheduler_.now(), value_at(server, key));
  }
}

// "Expiry": a key may outlive its time by the difference of two clocks that a move tolerates. Gone
// at the source, it is there again at the destination.
void World::settle_expiries(const ring::Move& move) {
  const std::size_t source = server_of(*checker_.view(), move.source);
  const std::size_t destination = server_of(*checker_.view(), move.destination);
  const std::int64_t source_now = servers_[source]->current().now_ms();
  for (const std::string& key : workload_->keys()) {
    if (!ring::contains(move.ranges, checker_.view()->token_of(key))) continue;
    const Entry* entry = servers_[destination]->current().peek(key);
    if (entry == nullptr || entry->expires_ms == kNever || entry->expires_ms > source_now) continue;
    workload_->history().outlived(key, scheduler_.now(), value_at(destination, key));
  }
}

}  // namespace cleave::sim
