#include "control/moves/move_board.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "base/shown.h"

namespace cleave::control {
namespace {

constexpr milliseconds kBoardTick{100};
constexpr std::uint64_t kTicksToPace = 10;  // once a second
constexpr std::size_t kWaitingMax = 4'096;
// A move that may well succeed at the next try.
constexpr std::uint32_t kTriesMax = 3;

const ring::Move* move_of(const SharedDocument& document, MoveId id) {
  return document == nullptr ? nullptr : ring::find_move(*document, id);
}

ring::Move as_move(const migrate::Migration& migration) {
  const ring::MoveRequest& request = migration.request();
  return {.id = migration.id(),
          .ranges = request.ranges,
          .source = request.source,
          .destination = request.destination,
          .phase = ring::Phase::kCopying,
          .phase_epoch = migration.copying_epoch(),
          .reason = request.reason,
          .started = request.now};
}

MoveEnd end_of(const migrate::Migration& migration) {
  if (migration.outcome().committed) return MoveEnd::kCommitted;
  return migration.id() == MoveId{} ? MoveEnd::kRefused : MoveEnd::kAborted;
}

MoveRecord record_of(const migrate::Migration& migration, const net::Loop& loop) {
  const UnixMillis ended = loop.wall_now();
  const migrate::Progress& progress = migration.progress();
  const auto took = std::chrono::milliseconds(ended.value() - migration.request().now.value());
  MoveRecord record{.move = as_move(migration),
                    .end = end_of(migration),
                    .why = migration.outcome().why,
                    .keys_copied = progress.keys_copied,
                    .bytes_copied = progress.bytes_copied,
                    .took = took,
                    .committed = milliseconds{0},
                    .fenced = microseconds{0},
                    .ended = ended};
  CHECK((record.end == MoveEnd::kCommitted) == (progress.committed != Instant{0}));
  CHECK(record.end == MoveEnd::kCommitted || !record.why.empty());
  if (progress.committed != Instant{0}) {
    const nanoseconds cleaning = loop.now() - progress.committed;
    record.committed = took - std::chrono::duration_cast<milliseconds>(cleaning);
  }
  if (progress.fenced != Instant{0} && progress.committed != Instant{0}) {
    CHECK(progress.fenced <= progress.committed);
    record.fenced = std::chrono::duration_cast<microseconds>(progress.committed - progress.fenced);
  }
  return record;
}

}  // namespace

MoveBoard::MoveBoard(Options options)
    : options_(std::move(options)),
      pace_(options_.limits.copy_bytes_per_second),
      throttle_(pace_.rate()),
      leftovers_({.loop = options_.loop,
                  .writer = options_.writer,
                  .links = options_.links,
                  .leader = options_.leader,
                  .mutations = options_.mutations,
                  .copies = options_.copies,
                  .moving = [this](NodeId node) { return uses(node); },
                  .decided = options_.decided}) {
  CHECK(options_.view != nullptr && options_.copies != nullptr);
  CHECK(options_.ended != nullptr && options_.decided != nullptr);
  CHECK(options_.leader.term != Term{});  // moves are of a term (rule 3)
  options_.loop.after(kBoardTick, guarded(alive_, [this] { tick(); }));
}

void MoveBoard::see(const SharedDocument& document) {
  CHECK(document != nullptr);
  document_ = document;
  const std::weak_ptr<void> alive = alive_;
  for (std::size_t i = 0; i < drivers_.size() && !alive.expired(); ++i) drivers_[i]->see(document);
  if (alive.expired()) return;
  options_.copies->follow(*document);
  leftovers_.see(document);
}

void MoveBoard::tick() {
  abort_strays();
  start_what_can();
  if (++ticks_ % kTicksToPace == 0) pace_copies();
  options_.loop.after(kBoardTick, guarded(alive_, [this] { tick(); }));
}

void MoveBoard::pace_copies() {
  std::set<NodeId> moving;
  for (const auto& driver : drivers_) {
    moving.insert(driver->migration().request().source);
    moving.insert(driver->migration().request().destination);
  }
  pace_.step(options_.links.latencies().end_second(moving));
  throttle_.set_rate(pace_.rate());
}

// Moves that the document shows and no driver has: the answer to a beginning was lost. Those in the
// old phase CLEAN wait until the last router of an older version has gone (rule 21).
void MoveBoard::abort_strays() {
  if (document_ == nullptr) return;
  const bool beginning = std::ranges::any_of(
      drivers_, [](const auto& driver) { return driver->migration().id() == MoveId{}; });
  if (beginning || options_.mutations.term_keeps_moves) return;
  for (const ring::Move& move : document_->moves) {
    const bool driven = std::ranges::any_of(
        drivers_, [&](const auto& driver) { return driver->migration().id() == move.id; });
    if (driven || move.phase == ring::Phase::kClean) continue;
    options_.writer.edit_once(
        purpose_of_abort(move.id),
        [move](const ring::Document& document) {
          return ring::abort_move(document, move.id, move.phase_epoch);
        },
        [](const Result<SharedDocument>&) {});
  }
}

std::uint64_t MoveBoard::want(ring::MoveRequest request, Begun begun, Tried tried) {
  CHECK(request.source != request.destination);
  const std::uint64_t ticket = ++tickets_;
  if (winding_down_ || waiting_.size() >= kWaitingMax) {
    options_.loop.post([begun = std::move(begun)] {
      if (begun) begun(fail(Code::kExhausted, "too many moves wait already"));
    });
    return ticket;
  }
  waiting_.push_back(
      {.ticket = ticket, .request = std::move(request), .begun = std::move(begun), .tried = tried});
  CHECK(waiting_.size() <= kWaitingMax);
  options_.loop.post(guarded(alive_, [this] { start_what_can(); }));
  return ticket;
}

void MoveBoard::withdraw(std::uint64_t ticket) {
  const auto found = std::ranges::find(waiting_, ticket, &Wanted::ticket);
  if (found == waiting_.end()) return;
  const Wanted wanted = std::move(*found);
  waiting_.erase(found);
  std::string others;
  for (const auto& driver : drivers_) {
    const ring::MoveRequest& other = driver->migration().request();
    if (other.source != wanted.request.source && other.destination != wanted.request.destination)
      continue;
    others += (others.empty() ? " " : ", ") + std::to_string(driver->migration().id().value());
  }
  const std::string what = others.empty() ? "earlier commands of moves" : "move" + others;
  if (wanted.begun)
    wanted.begun(
        fail(Code::kUnavailable, "a node sends one move at a time, and takes one: " + what +
                                     " is not over yet. Nothing was ordered; order it "
                                     "again afterwards"));
}

bool MoveBoard::node_free(NodeId source, NodeId destination) const {
  for (const auto& driver : drivers_) {
    const ring::MoveRequest& other = driver->migration().request();
    if (other.source == source || other.destination == destination) return false;
  }
  // Rule 23 a: what is cleaned comes first, and alone.
  if (leftovers_.wants(source) || leftovers_.wants(destination)) return false;
  // Rule 8: every command of earlier moves on these nodes is finished.
  const auto from = options_.links.store(source);
  const auto to = options_.links.store(destination);
  return from == nullptr || to == nullptr || (from->unfinished() == 0 && to->unfinished() == 0);
}

bool MoveBoard::uses(NodeId node) const {
  return std::ranges::any_of(drivers_, [&](const auto& driver) {
    const ring::MoveRequest& request = driver->migration().request();
    return request.source == node || request.destination == node;
  });
}

void MoveBoard::take_back(MoveId entry, Begun begun) {
  CHECK(begun != nullptr);
  const ring::Leftover* kept =
      document_ == nullptr ? nullptr : ring::find_leftover(*document_, entry);
  std::string why;
  if (kept == nullptr || !kept->kept()) why = "no leftover of that move is kept";
  // Rules 8 and 26: every command of earlier moves on both nodes is finished.
  if (why.empty() && (winding_down_ || !node_free(kept->holder, kept->node)))
    why = "one of its nodes is busy with a move; try again";
  if (why.empty() && (options_.links.store(kept->holder) == nullptr ||
                      options_.links.store(kept->node) == nullptr))
    why = "no such node";
  if (!why.empty()) {
    return options_.loop.post(
        [why, begun = std::move(begun)] { begun(fail(Code::kConflict, why)); });
  }
  launch(std::make_unique<MoveDriver>(*kept,
                                      driver_options(kept->holder, kept->node, std::move(begun))));
}

void MoveBoard::start_what_can() {
  for (std::size_t i = 0; i < waiting_.size() && !winding_down_;) {
    const ring::MoveRequest& request = waiting_[i].request;
    if (!node_free(request.source, request.destination)) {
      ++i;
      continue;
    }
    Wanted wanted = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (options_.links.store(wanted.request.source) == nullptr ||
        options_.links.store(wanted.request.destination) == nullptr) {
      if (wanted.begun) wanted.begun(fail(Code::kNotFound, "no such node"));
      continue;
    }
    wanted.request.now = options_.loop.wall_now();
    MoveDriver::Options options = driver_options(wanted.request.source, wanted.request.destination,
                                                 std::move(wanted.begun), wanted.tried);
    launch(std::make_unique<MoveDriver>(std::move(wanted.request), std::move(options)));
  }
}

MoveDriver::Options MoveBoard::driver_options(NodeId source, NodeId destination, Begun begun,
                                              Tried tried) {
  return {.loop = options_.loop,
          .writer = options_.writer,
          .directory = options_.directory,
          .source = options_.links.store(source),
          .destination = options_.links.store(destination),
          .throttle = throttle_,
          .view = options_.view,
          .leader = options_.leader,
          .limits = options_.limits,
          .mutations = options_.mutations,
          .copies = options_.copies,
          .over = guarded(alive_, [this](MoveDriver& driver) { over(driver); }),
          .begun = std::move(begun),
          .tried = tried};
}

void MoveBoard::launch(std::unique_ptr<MoveDriver> driver) {
  // One outgoing and one incoming move a node, and none of an earlier command under way (rule 8).
  const ring::MoveRequest& request = driver->migration().request();
  CHECK(node_free(request.source, request.destination) && !winding_down_);
  drivers_.push_back(std::move(driver));
  drivers_.back()->start();
}

void MoveBoard::over(MoveDriver& driver) {
  const migrate::Migration& migration = driver.migration();
  CHECK(migration.is_over());
  MoveRecord record = record_of(migration, options_.loop);
  const auto reason = reasons_.extract(record.move.id);
  if (!reason.empty() && record.end == MoveEnd::kAborted) record.why = reason.mapped();
  options_.ended(record);
  remember(driver);
  if (!migration.outcome().unmovable.empty() && !winding_down_) try_again(driver);
  const auto let_go =
      std::erase_if(drivers_, [&](const auto& held) { return held.get() == &driver; });
  CHECK(let_go == 1);
  start_what_can();
}

// The server that stopped it; nullopt: none did. What lies at a destination will stop the next move
// too: keys of somebody else, and copies that wait for a person.
std::optional<Refused> MoveBoard::stopped_by(const MoveDriver& driver) const {
  const migrate::Migration& migration = driver.migration();
  if (driver.refused()) return driver.refused();
  CHECK(document_ != nullptr);
  const ring::MoveRequest& request = migration.request();
  const bool kept = std::ranges::any_of(document_->leftovers, [&](const ring::Leftover& entry) {
    return entry.kept() && entry.node == request.destination &&
           ring::overlap(entry.ranges, request.ranges);
  });
  if (!kept && !migration.outcome().foreign_keys) return std::nullopt;
  return Refused{.node = request.destination,
                 .end = backend::End::kDestination,
                 .words = migration.outcome().why};
}

// Who stopped a move rests; who took part in one that went well is as good as before.
void MoveBoard::remember(const MoveDriver& driver) {
  const ring::MoveRequest& request = driver.migration().request();
  if (driver.migration().outcome().committed) {
    refusals_.forget(request.source, backend::End::kSource);
    refusals_.forget(request.destination, backend::End::kDestination);
    return;
  }
  const std::optional<Refused> stopped = stopped_by(driver);
  if (!stopped || winding_down_) return;
  const milliseconds rest = refusals_.note(*stopped, options_.loop.now());
  const ring::Node* node = ring::find_node(options_.view->document(), stopped->node);
  options_.decided({.at = options_.loop.wall_now(),
                    .kind = "refused",
                    .subject = "node " + (node == nullptr ? "?" : node->name),
                    .reason = stopped->words + "; no move is planned with it for " +
                              std::to_string(rest.count() / 1'000) + " s",
                    .predicted = "",
                    .real = ""});
}

void MoveBoard::try_again(const MoveDriver& driver) {
  Tried tried = driver.tried();
  if (!driver.migration().outcome().again || ++tried.times >= kTriesMax) return go_around(driver);
  want(driver.migration().request(), nullptr, tried);
}

// What cannot be moved stays: the ranges without the tokens of those keys are wanted instead.
void MoveBoard::go_around(const MoveDriver& driver) {
  // Rule 22: the move is undone; what is wanted now is another one.
  CHECK(!driver.migration().outcome().committed);
  ring::MoveRequest request = driver.migration().request();
  std::vector<ring::TokenRange> stay;
  for (const migrate::Unmovable& key : driver.migration().outcome().unmovable) {
    const Token token = options_.view->token_of(key.key);
    stay.push_back({token, token});
    options_.decided({.at = options_.loop.wall_now(),
                      .kind = "unsplittable",
                      .subject = shown(key.key),
                      .reason = "stays where it is: " + key.reason,
                      .predicted = "",
                      .real = ""});
  }
  request.ranges = ring::difference(request.ranges, ring::normalised(std::move(stay)));
  const Tried tried{.kept_behind =
                        driver.tried().kept_behind + driver.migration().outcome().unmovable.size()};
  if (!request.ranges.empty()) want(std::move(request), nullptr, tried);
}

Result<void> MoveBoard::abort(MoveId move, const std::string& why) {
  for (const auto& driver : drivers_) {
    if (driver->migration().id() != move) continue;
    if (driver->migration().outcome().committed)
      return fail(Code::kConflict, "the move is committed; see undo");
    driver->abort(why);
    return {};
  }
  const bool known = move_of(document_, move) != nullptr;
  return fail(Code::kNotFound, known ? "no driver has that move" : "no such move is under way");
}

std::size_t MoveBoard::forget_waiting(const std::string& why) {
  std::size_t forgotten = waiting_.size();
  for (Wanted& wanted : std::exchange(waiting_, {})) {
    if (wanted.begun) wanted.begun(fail(Code::kUnavailable, why));
  }
  for (std::size_t i = 0; i < drivers_.size(); ++i) {
    if (drivers_[i]->migration().id() != MoveId{}) continue;
    drivers_[i]->abort(why);
    ++forgotten;
  }
  return forgotten;
}

void MoveBoard::wind_down(const std::string& why) {
  winding_down_ = true;
  forget_waiting(why);
  for (std::size_t i = 0; i < drivers_.size(); ++i) drivers_[i]->abort(why);
}

bool MoveBoard::fencing() const {
  return std::ranges::any_of(drivers_, [](const auto& driver) {
    const migrate::Progress& progress = driver->migration().progress();
    return progress.fenced != Instant{0} && progress.committed == Instant{0};
  });
}

std::vector<MoveStatus> MoveBoard::status() const {
  std::vector<MoveStatus> all;
  for (const auto& driver : drivers_) {
    const migrate::Migration& migration = driver->migration();
    const ring::Move* shown = move_of(document_, migration.id());
    all.push_back({.move = shown != nullptr ? *shown : as_move(migration),
                   .step = std::string(to_string(migration.at())),
                   .waits_for = migration.waits_for(),
                   .keys_copied = driver->keys_copied(),
                   .bytes_copied = driver->bytes_copied(),
                   .rounds = migration.progress().rounds});
  }
  return all;
}

}  // namespace cleave::control
