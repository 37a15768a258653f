#include "control/moves/leftover_board.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/shown.h"
#include "control/orders/describe.h"

namespace cleave::control {
namespace {

std::string spared_text(std::uint64_t keys) {
  return std::to_string(keys) +
         " keys stay where they are, as strays, because their owner does not have them: these may "
         "be the last copies. See 'cleave strays'";
}

}  // namespace

LeftoverBoard::LeftoverBoard(Options options) : options_(std::move(options)) {
  CHECK(options_.moving != nullptr && options_.decided != nullptr && options_.copies != nullptr);
}

void LeftoverBoard::see(const SharedDocument& document) {
  CHECK(document != nullptr);
  document_ = document;
  const std::weak_ptr<void> alive = alive_;
  for (std::size_t i = 0; i < cleaners_.size() && !alive.expired(); ++i)
    cleaners_[i]->see(document);
  if (alive.expired() || options_.mutations.no_cleaning) return;
  if (newest_at_start_ == MoveId{}) newest_at_start_ = MoveId{document->epoch.value()};
  std::vector<Cleaner*> begun;
  for (const ring::Leftover& entry : document->leftovers) {
    if (entry.kept() || ring::in_use(*document, entry)) continue;
    // As if only this term's own were its business.
    if (options_.mutations.clean_own_only && entry.move.value() < newest_at_start_.value())
      continue;
    const bool known = std::ranges::any_of(cleaners_, [&](const auto& cleaner) {
      return cleaner->cleaning().entry().move == entry.move && !cleaner->cleaning().is_over();
    });
    if (known) continue;
    cleaners_.push_back(make(entry));
    begun.push_back(cleaners_.back().get());
  }
  for (Cleaner* cleaner : begun) {
    if (!alive.expired()) cleaner->start();
  }
}

std::unique_ptr<Cleaner> LeftoverBoard::make(const ring::Leftover& entry) {
  // Rule 23: what no move uses, and no person has to decide about.
  CHECK(!entry.kept() && !ring::in_use(*document_, entry));
  if (view_ == nullptr || view_->epoch() != document_->epoch) {
    const Result<ring::RingSnapshot> view = ring::RingView::build(*document_, view_.get());
    CHECK(view);
    view_ = *view;
  }
  return std::make_unique<Cleaner>(
      entry,
      Cleaner::Options{.loop = options_.loop,
                       .writer = options_.writer,
                       .store = [this](NodeId node) { return options_.links.store(node); },
                       .view = view_,
                       .leader = options_.leader,
                       .mutations = options_.mutations,
                       .copies = options_.copies->of(entry.move),
                       .may_touch =
                           [this](const Cleaner& cleaner) {
                             return is_first_of_its_node(cleaner) &&
                                    !options_.moving(cleaner.cleaning().entry().node);
                           },
                       .over = guarded(alive_, [this](Cleaner& cleaner) { over(cleaner); })});
}

// Those that wait to try again stand back.
bool LeftoverBoard::is_first_of_its_node(const Cleaner& cleaner) const {
  for (const auto& other : cleaners_) {
    if (other.get() == &cleaner) return true;
    const bool same = other->cleaning().entry().node == cleaner.cleaning().entry().node;
    if (same && !other->waits() && !other->cleaning().is_over()) return false;
  }
  return true;
}

bool LeftoverBoard::wants(NodeId node) const {
  return std::ranges::any_of(cleaners_, [&](const auto& cleaner) {
    return cleaner->cleaning().entry().node == node && !cleaner->waits() &&
           !cleaner->cleaning().is_over();
  });
}

bool LeftoverBoard::idle() const {
  return std::ranges::all_of(cleaners_, [](const auto& cleaner) { return cleaner->waits(); });
}

void LeftoverBoard::over(Cleaner& cleaner) {
  const migrate::Cleaning& cleaning = cleaner.cleaning();
  CHECK(cleaning.is_over());
  const migrate::CleaningProgress& progress = cleaning.progress();
  const ring::Leftover& entry = cleaning.entry();
  DecisionRecord decision{.at = options_.loop.wall_now(),
                          .kind = "",
                          .subject = describe(entry.ranges),
                          .reason = "",
                          .predicted = "",
                          .real = std::to_string(progress.deleted) + " keys deleted"};
  if (entry.kept()) {
    decision.kind = "kept";
    decision.reason = "what move " + std::to_string(entry.move.value()) +
                      " left there is kept: " + entry.why + ". See 'cleave leftovers'";
    options_.decided(std::move(decision));
  } else if (progress.unknown + progress.spared > 0) {
    decision.kind = "cleaned";
    decision.reason = progress.spared > 0
                          ? spared_text(progress.spared)
                          : std::to_string(progress.unknown) +
                                " of the copies are not at their owner: deleted there since, or "
                                "written here past the routers";
    for (const std::string& key : progress.examples) decision.reason += ", '" + shown(key) + "'";
    options_.decided(std::move(decision));
  }
  const auto let_go =
      std::erase_if(cleaners_, [&](const auto& held) { return held.get() == &cleaner; });
  CHECK(let_go == 1);
}

// What it failed at, or commands that may still run there (rule 23 a).
void LeftoverBoard::tell_stuck(const Cleaner& cleaner, LeftoverStatus& status) const {
  const migrate::Cleaning& cleaning = cleaner.cleaning();
  CHECK(document_ != nullptr);
  Instant since = cleaning.went_well();
  status.stuck = cleaning.stuck();
  const auto store = options_.links.store(cleaning.entry().node);
  const bool quiet = cleaning.at() == migrate::CleaningStep::kQuiet;
  if (status.stuck.empty() && quiet && store != nullptr && store->unfinished() > 0) {
    status.stuck = "commands of earlier moves may still run at its server, which does not answer";
    since = cleaner.held_since();
  }
  if (status.stuck.empty()) return;
  status.stuck_for = std::chrono::duration_cast<milliseconds>(options_.loop.now() - since);
}

std::vector<LeftoverStatus> LeftoverBoard::status() const {
  std::vector<LeftoverStatus> all;
  if (document_ == nullptr) return all;
  for (const ring::Leftover& entry : document_->leftovers) {
    LeftoverStatus status{.entry = entry, .step = std::string(to_string(entry.state))};
    for (const auto& cleaner : cleaners_) {
      const migrate::Cleaning& cleaning = cleaner->cleaning();
      if (cleaning.entry().move != entry.move || cleaning.is_over()) continue;
      status.step = to_string(cleaning.at());
      status.waits_for = cleaning.waits_for();
      status.deleted = cleaning.progress().deleted;
      status.unknown = cleaning.progress().unknown;
      status.spared = cleaning.progress().spared;
      tell_stuck(*cleaner, status);
    }
    all.push_back(std::move(status));
  }
  return all;
}

}  // namespace cleave::control
