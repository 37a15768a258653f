#include "balance/planning_loop.h"

#include <utility>

#include "balance/input/gain.h"
#include "base/check.h"

namespace cleave::balance {

void PlanningLoop::set_view(const ring::RingSnapshot& view) {
  CHECK(view_ == nullptr || view_->epoch() <= view->epoch());
  view_ = view;
  ledger_.set_view(view);
}

Promise PlanningLoop::promise(const PlannedMove& planned) const {
  CHECK(picture_ != nullptr);
  return {.planned = planned, .total_before = slow_load(*picture_)};
}

void PlanningLoop::ended(PastMove past, const std::optional<Promise>& promise, Instant now) {
  CHECK(!promise || (promise->planned.source == past.source &&
                     promise->planned.destination == past.destination));
  past.ordered = !promise || ordered(promise->planned.cause);
  past.predicted_gain = promise ? promise->planned.load : 0;
  past.real_gain.reset();
  Remembered& kept = history_.emplace_back(Remembered{.move = std::move(past), .gain = {}});
  if (!promise || !kept.move.committed) return;
  kept.gain = {.due = now + kGainAfter,
               .source_before = promise->planned.source_before,
               .total_before = promise->total_before};
}

void PlanningLoop::look(Instant now, UnixMillis wall) {
  CHECK(view_ != nullptr);
  ledger_.tick(now);
  picture_ = std::make_shared<const heat::Picture>(ledger_.picture(now));
  for (Remembered& each : history_) {
    if (!each.gain || each.gain->due > now) continue;
    each.move.real_gain = real_gain({.source_before = each.gain->source_before,
                                     .total_before = each.gain->total_before,
                                     .source_now = slow_load(*picture_, each.move.source),
                                     .total_now = slow_load(*picture_)});
    each.gain.reset();
  }
  std::erase_if(history_, [&](const Remembered& each) {
    return each.move.ended.value() + kRemembered.count() < wall.value();
  });
}

Input PlanningLoop::input(TickFacts facts) const {
  CHECK(picture_ != nullptr);
  Input told{.view = view_, .picture = *picture_};
  told.nodes = std::move(facts.nodes);
  for (const Remembered& each : history_) told.history.push_back(each.move);
  told.trigger = trigger_;
  told.orders = std::move(facts.orders);
  told.usual = std::move(facts.usual);
  told.expected = std::move(facts.expected);
  told.constants = facts.constants;
  told.now = facts.now;
  told.seed = facts.seed;
  return told;
}

Plan PlanningLoop::step(TickFacts facts, const Planner& planner) {
  Plan result = planner(input(std::move(facts)));
  trigger_ = result.trigger;
  return result;
}

}  // namespace cleave::balance
