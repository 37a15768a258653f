#include "proxy/moves/move_desk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace cleave::proxy {
namespace {

using ring::Phase;

std::unexpected<Error> other_phase(MoveId move, Epoch phase_epoch) {
  return fail(Code::kConflict, "move " + std::to_string(move.value()) + " is not in phase epoch " +
                                   std::to_string(phase_epoch.value()));
}

// Takes the questions out that `ready` can answer, then answers them: an answer may ask again.
template <class Questions, class Answer>
void answer_ready(Questions& questions, const Answer& answer) {
  Questions open;
  std::vector<std::function<void()>> ready;
  for (auto& question : std::exchange(questions, {})) {
    if (auto call = answer(question)) {
      ready.push_back(std::move(call));
    } else {
      open.push_back(std::move(question));
    }
  }
  questions = std::move(open);
  for (const auto& call : ready) call();
}

}  // namespace

MoveDesk::MoveDesk(Options options) : options_(std::move(options)), adopted_(options_.workers) {}

// ---- views ------------------------------------------------------------------------------------

void MoveDesk::set_view(const ring::RingSnapshot& view) {
  CHECK(view_ == nullptr || view_->epoch() < view->epoch());
  view_ = view;
  drop_entries();
  for (const ring::Move& move : view_->document().moves) {
    if (move.phase != Phase::kClean) follow(move);
  }
  answer_copying();
  answer_fenced();
}

void MoveDesk::follow(const ring::Move& move) {
  const auto entry =
      entries_.try_emplace(move.id, options_.limits.dirty_keys_max, options_.workers).first;
  entry->second.phase = move.phase;
  entry->second.phase_epoch = move.phase_epoch;
  if (move.phase == Phase::kCopying) entry->second.copying_epoch = move.phase_epoch;
}

// Moves that were aborted or committed: nobody needs their keys any more.
void MoveDesk::drop_entries() {
  std::vector<std::pair<MoveId, Done<peer::DirtyBatch>>> refused;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const ring::Move* const move = ring::find_move(view_->document(), entry->first);
    if (move != nullptr && move->phase != Phase::kClean) {
      ++entry;
      continue;
    }
    for (auto& taker : entry->second.takers) refused.emplace_back(entry->first, std::move(taker));
    entry = entries_.erase(entry);
  }
  for (const auto& [move, done] : refused) {
    done(fail(Code::kConflict, "move " + std::to_string(move.value()) + " has ended"));
  }
}

void MoveDesk::stop(const Error& why) {
  for (const auto& question : std::exchange(copying_, {})) question.done(std::unexpected(why));
  for (const auto& question : std::exchange(fenced_, {})) question.done(std::unexpected(why));
  for (auto& [move, entry] : std::exchange(entries_, {})) {
    for (const auto& taker : entry.takers) taker(std::unexpected(why));
  }
}

MoveDesk::Entry* MoveDesk::find(MoveId move) {
  const auto found = entries_.find(move);
  return found == entries_.end() ? nullptr : &found->second;
}

// Rule 4: equality, never "at least".
bool MoveDesk::matches(Epoch known, Epoch asked) const {
  return known == asked || options_.mutations.any_phase_epoch;
}

// The view is new enough to know the phase epoch, and shows another.
bool MoveDesk::is_past(MoveId move, Epoch phase_epoch, Phase phase) {
  if (view_ == nullptr || view_->epoch() < phase_epoch) return false;
  const Entry* const entry = find(move);
  return entry == nullptr || entry->phase != phase || !matches(entry->phase_epoch, phase_epoch);
}

// ---- COPYING ----------------------------------------------------------------------------------

void MoveDesk::await_copying(MoveId move, Epoch phase_epoch, Done<void> done) {
  copying_.push_back({move, phase_epoch, std::move(done)});
  answer_copying();
}

void MoveDesk::adopted(std::size_t worker, Epoch epoch) {
  adopted_[worker] = std::max(adopted_[worker], epoch);
  answer_copying();
}

// A worker whose epoch lies between the phase epoch and that of a view which still shows the phase
// has the phase in its view too: a phase never comes back.
void MoveDesk::answer_copying() {
  answer_ready(copying_, [this](const Question<void>& question) -> std::function<void()> {
    if (is_past(question.move, question.phase_epoch, Phase::kCopying)) {
      return [question] { question.done(other_phase(question.move, question.phase_epoch)); };
    }
    const Entry* const entry = find(question.move);
    if (entry == nullptr || !matches(entry->phase_epoch, question.phase_epoch)) return nullptr;
    if (std::ranges::min(adopted_) < entry->phase_epoch) return nullptr;
    return [question] { question.done({}); };
  });
}

void MoveDesk::take(MoveId move, Epoch phase_epoch, const peer::TakeOrder& order,
                    Done<peer::DirtyBatch> done) {
  const std::uint64_t number = order.number;
  Entry* const entry = find(move);
  if (entry == nullptr || !matches(entry->copying_epoch, phase_epoch)) {
    return done(other_phase(move, phase_epoch));
  }
  if (number == entry->number && number > 0) {
    if (entry->missing > 0) return entry->takers.push_back(std::move(done));
    return done(*entry->batch);
  }
  if (number != entry->number + 1 || entry->missing > 0) {
    return done(fail(Code::kConflict, "batch " + std::to_string(number) + " is not the next: " +
                                          std::to_string(entry->number) + " was taken last"));
  }
  // What the workers have noted by now belongs to the fence's own answer.
  if (entry->phase != Phase::kCopying) return done(other_phase(move, phase_epoch));
  entry->batch.reset();
  entry->number = number;
  entry->missing = options_.workers;
  entry->takers.push_back(std::move(done));
  options_.collect(move, order.watch);
}

void MoveDesk::collected(std::size_t /*worker*/, MoveId move, const peer::DirtyBatch& keys) {
  Entry* const entry = find(move);
  if (entry == nullptr) return;  // the move ended meanwhile; its takers were told
  CHECK(entry->missing > 0);
  entry->gathered.add(keys);
  if (--entry->missing == 0) finish_gathering(*entry);
}

// Kept until the next batch is asked for: the answer may be lost on its way to the driver.
void MoveDesk::finish_gathering(Entry& entry) {
  entry.batch = entry.gathered.take(entry.number);
  const peer::DirtyBatch batch = *entry.batch;
  if (options_.mutations.take_forgets) {
    entry.batch->keys.clear();
    entry.batch->elements.clear();
  }
  for (const auto& taker : std::exchange(entry.takers, {})) taker(batch);
}

// ---- FENCED -----------------------------------------------------------------------------------

void MoveDesk::await_fenced(MoveId move, Epoch phase_epoch, Done<peer::FencedAck> done) {
  fenced_.push_back({move, phase_epoch, std::move(done)});
  answer_fenced();
}

void MoveDesk::cleared(std::size_t worker, MoveId move, Epoch phase_epoch,
                       const peer::FencedAck& part) {
  Entry* const entry = find(move);
  if (entry == nullptr || entry->phase_epoch != phase_epoch || entry->clear[worker]) return;
  entry->clear[worker] = true;
  entry->last.add(part.last);
  if (!entry->ack) entry->ack.emplace();
  for (const auto& [node, incarnations] : part.incarnations) {
    std::vector<Incarnation>& all = entry->ack->incarnations[node];
    for (const Incarnation& one : incarnations) {
      if (std::ranges::find(all, one) == all.end()) all.push_back(one);
    }
  }
  if (std::ranges::find(entry->clear, false) != entry->clear.end()) return;
  entry->ack->last = entry->last.take(entry->number + 1);
  answer_fenced();
}

void MoveDesk::answer_fenced() {
  answer_ready(fenced_, [this](const Question<peer::FencedAck>& question) -> std::function<void()> {
    if (is_past(question.move, question.phase_epoch, Phase::kFenced)) {
      return [question] { question.done(other_phase(question.move, question.phase_epoch)); };
    }
    const Entry* const entry = find(question.move);
    if (entry == nullptr) return nullptr;
    // As a mutant: having acknowledged COPYING is taken for having acknowledged the fence.
    if (options_.mutations.any_phase_epoch && entry->phase == Phase::kCopying)
      return [question] { question.done(peer::FencedAck{}); };
    if (entry->phase != Phase::kFenced) return nullptr;
    if (std::ranges::find(entry->clear, false) != entry->clear.end()) return nullptr;
    return [question, ack = *entry->ack] { question.done(ack); };
  });
}

}  // namespace cleave::proxy
