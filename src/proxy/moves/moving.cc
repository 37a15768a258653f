#include "proxy/moves/moving.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "proxy/servers/links.h"

namespace cleave::proxy {

using ring::Phase;

void Moving::adopt(const ring::RingView& view, const CommandList& unfinished) {
  std::vector<Open> moves;
  for (const ring::Move& move : view.document().moves) {
    if (move.phase == Phase::kClean) continue;
    Open* const known = find(move.id);
    if (known != nullptr) {
      moves.push_back(std::move(*known));
    } else {
      moves.push_back(
          {.id = move.id, .ranges = move.ranges, .dirty = DirtySet(limits_.dirty_keys_max)});
    }
  }
  moves_ = std::move(moves);
  watching_ = std::ranges::any_of(moves_, [](const Open& open) { return !open.watched.empty(); });
  fences_ = 0;
  for (Open& open : moves_) {
    const ring::Move& move = *ring::find_move(view.document(), open.id);
    if (move.phase == Phase::kFenced && !open.broken) ++fences_;
    if (open.phase_epoch == move.phase_epoch) continue;
    open.phase = move.phase;
    open.phase_epoch = move.phase_epoch;
    if (open.phase == Phase::kFenced) fence(open, unfinished);
  }
}

bool Moving::must_hold(const Command& command, const ring::RingView& view) const {
  if (fences_ == 0) return false;
  if (mutations_.hold_writes_only && !command.writes) return false;
  if (command.whole_range()) return !mutations_.flush_no_hold;
  if (command.keys.empty()) return false;
  const std::uint32_t index = view.entry(command.index).move;
  if (index == ring::kNone) return false;
  const ring::Move& move = view.document().moves[index];
  if (move.phase != Phase::kFenced) return false;
  if (!mutations_.leave_fence_alone) return true;
  return std::ranges::none_of(moves_, [&](const Open& o) { return o.id == move.id && o.broken; });
}

void Moving::served(const Command& command) {
  if (moves_.empty()) return;
  const backend::Identity* const identity = command.pipe->identity();
  if (identity == nullptr) return;
  const std::uint64_t connection = command.pipe->stats().reconnects;
  for (Open& move : moves_) {
    if (!concerns(move, command)) continue;
    const bool known = std::ranges::any_of(move.used, [&](const Used& used) {
      return used.pipe == command.pipe && used.connection == connection &&
             used.incarnation == identity->incarnation;
    });
    if (known) continue;
    move.used.push_back({command.link->node, command.pipe, connection, identity->incarnation});
  }
}

void Moving::finished(const Command& command, bool ran) {
  if (moves_.empty()) return;
  if (ran && command.writes && !mutations_.mark_at_send) mark(command);
  for (Open& move : moves_) {
    if (move.phase != Phase::kFenced || move.cleared || !concerns(move, command)) continue;
    CHECK(move.unfinished > 0);
    if (--move.unfinished == 0) clear(move);
  }
}

void Moving::mark(const Command& command) {
  for (Open& move : moves_) {
    if (command.whole_range()) {
      if (mutations_.flush_no_mark) continue;
      move.dirty.add_whole_range();
      continue;
    }
    for (const KeyRef& key : command.keys) {
      if (!ring::contains(move.ranges, key.token)) continue;
      // Behind a cleared fence nobody would ever copy this key again.
      CHECK(!move.cleared || is_mutated());
      note(move, command, key);
    }
  }
}

void Moving::note(Open& move, const Command& command, const KeyRef& key) {
  if (command.elements == nullptr) return move.dirty.add(command.key(key));
  std::span<const std::string> elements(*command.elements);
  if (mutations_.element_hides_key) return move.dirty.add_hiding(command.key(key), elements);
  if (mutations_.element_mark_lost) elements = elements.subspan(1);
  if (elements.empty()) return;
  move.dirty.add(command.key(key), elements);
}

peer::DirtyBatch Moving::take(MoveId move, const std::vector<std::string>& watch) {
  Open* const open = find(move);
  if (open == nullptr) return {};
  open->watched = {watch.begin(), watch.end()};
  watching_ = std::ranges::any_of(moves_, [](const Open& each) { return !each.watched.empty(); });
  return open->dirty.take(0);
}

bool Moving::watches(const Command& command, std::string_view raw) const {
  return std::ranges::any_of(moves_, [&](const Open& move) {
    return std::ranges::any_of(command.keys, [&](const KeyRef& key) {
      return ring::contains(move.ranges, key.token) &&
             move.watched.contains(raw.substr(key.offset, key.size));
    });
  });
}

void Moving::break_fence(MoveId move, Epoch phase_epoch) {
  Open* const open = find(move);
  if (open == nullptr || open->phase_epoch != phase_epoch || open->broken) return;
  open->broken = true;
  open->cleared = true;
  --fences_;
}

// The simulator has switched off a rule that the CHECK in `mark` rests on.
bool Moving::is_mutated() const {
  return mutations_.commit_without_cas || mutations_.no_fence_wait ||
         mutations_.leave_fence_alone || mutations_.mark_after_reply ||
         mutations_.lost_is_finished || mutations_.hold_writes_only;
}

Moving::Open* Moving::find(MoveId move) {
  const auto found = std::ranges::find(moves_, move, &Open::id);
  return found == moves_.end() ? nullptr : &*found;
}

// Whether the command is one "of the range".
bool Moving::concerns(const Open& move, const Command& command) const {
  if (mutations_.hold_writes_only && !command.writes) return false;
  if (command.whole_range()) return !mutations_.flush_no_hold && !mutations_.flush_parts_apart;
  return std::ranges::any_of(
      command.keys, [&](const KeyRef& key) { return ring::contains(move.ranges, key.token); });
}

void Moving::fence(Open& move, const CommandList& unfinished) {
  move.unfinished = 0;
  for (const Command* command = unfinished.first(); command != nullptr; command = command->next) {
    if (concerns(move, *command)) ++move.unfinished;
  }
  if (move.unfinished == 0 || mutations_.no_fence_wait) clear(move);
}

void Moving::clear(Open& move) {
  move.cleared = true;
  peer::FencedAck ack{.last = move.dirty.take(0), .incarnations = {}};
  for (const Used& used : move.used) {
    std::vector<Incarnation>& all = ack.incarnations[used.node];
    if (std::ranges::find(all, used.incarnation) == all.end()) all.push_back(used.incarnation);
  }
  cleared_(move.id, move.phase_epoch, std::move(ack));
}

}  // namespace cleave::proxy
