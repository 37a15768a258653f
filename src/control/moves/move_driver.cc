#include "control/moves/move_driver.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/guarded.h"
#include "control/moves/preflight.h"
#include "control/moves/sweep.h"
#include "control/observe/server_facts.h"
#include "ring/width.h"

namespace cleave::control {
namespace {

using backend::End;

constexpr milliseconds kTick{20};
constexpr milliseconds kAskAgain{10};
constexpr milliseconds kBeginPatience{1'500};

constexpr std::size_t kExamplesMax = 3;

}  // namespace

MoveDriver::MoveDriver(ring::MoveRequest request, Options options)
    : options_(std::move(options)),
      migration_(std::move(request),
                 {options_.limits, options_.mutations, options_.tried.kept_behind}),
      copier_(options_.loop, *options_.source, *options_.destination, options_.throttle,
              options_.limits, options_.mutations) {
  check_options();
}

MoveDriver::MoveDriver(const ring::Leftover& kept, Options options)
    : options_(std::move(options)),
      migration_(kept, options_.loop.wall_now(), {options_.limits, options_.mutations}),
      copier_(options_.loop, *options_.source, *options_.destination, options_.throttle,
              options_.limits, options_.mutations) {
  check_options();
}

void MoveDriver::check_options() const {
  CHECK(options_.source != options_.destination);  // two connections (rule 8)
  CHECK(options_.view != nullptr && options_.copies != nullptr && options_.over != nullptr);
  CHECK(options_.leader.term != Term{});
  CHECK(!migration_.is_over() && migration_.id() == MoveId{});
}

void MoveDriver::start() {
  CHECK(copied_ == nullptr);  // it starts once
  copied_ = options_.copies->begin(migration_.request().destination);
  copier_.count_in(copied_);
  feed(migrate::Start{});
  tick();
}

void MoveDriver::see(const SharedDocument& document) { feed(migrate::DocumentSeen{document}); }

void MoveDriver::abort(std::string why) { feed(migrate::AbortWanted{std::move(why)}); }

void MoveDriver::feed(const migrate::Event& event) {
  const std::weak_ptr<void> alive = alive_;
  const migrate::Actions actions = migration_.step(event, options_.loop.now());
  if (!told_begun_ && migration_.id() != MoveId{}) {
    told_begun_ = true;
    copied_->move = migration_.id();
    if (options_.begun) options_.begun(migration_.id());
  }
  count_copies();
  for (const migrate::Action& action : actions) {
    if (alive.expired()) return;
    act(action);
  }
}

// At the commit both servers have the same keys of the range.
void MoveDriver::count_copies() {
  CHECK(copied_ != nullptr);
  const NodeId source = migration_.request().source;
  if (migration_.outcome().committed && copied_->node != source)
    options_.copies->committed(*copied_, source);
}

void MoveDriver::act(const migrate::Action& action) {
  std::visit([this](const auto& what) { act_on(what); }, action);
}

void MoveDriver::tick() {
  if (migration_.is_over()) return;
  feed(migrate::Tick{});
  options_.loop.after(kTick, guarded(alive_, [this] { tick(); }));
}

// Whoever it is, the board does not ask that server again at once.
void MoveDriver::refused_by(backend::End end, std::string words) {
  refused_ = Refused{.node = node_of(end), .end = end, .words = std::move(words)};
}

void MoveDriver::fail_at(backend::End end, const Error& why) {
  std::string words = name_of(end) + ": " + why.message;
  // A commit was answered by the document, or will be: what fails behind it is repeated.
  if (!migration_.outcome().committed) refused_by(end, words);
  feed(migrate::Failed{std::move(words)});
}

NodeId MoveDriver::node_of(backend::End end) const {
  const ring::MoveRequest& request = migration_.request();
  return end == End::kSource ? request.source : request.destination;
}

std::string MoveDriver::name_of(backend::End end) const {
  const std::string role = end == End::kSource ? "the source" : "the destination";
  const ring::Node* node = ring::find_node(options_.view->document(), node_of(end));
  return node == nullptr ? role
                         : role + " " + node->name + " (" + node->members.front().address + ")";
}

std::uint64_t MoveDriver::keys_copied() const {
  return migration_.progress().keys_copied + copier_.under_way().keys;
}

std::uint64_t MoveDriver::bytes_copied() const {
  return migration_.progress().bytes_copied + copier_.under_way().bytes;
}

// ---- the servers --------------------------------------------------------------------------------

void MoveDriver::act_on(const migrate::Identify& action) {
  // Both ends are asked at once; the answer that comes second completes the event.
  struct Both {
    std::optional<backend::StoreIdentity> source;
    std::optional<backend::StoreIdentity> destination;
  };
  auto both = std::make_shared<Both>();
  const auto take = [this, both, action](std::optional<backend::StoreIdentity> Both::* end,
                                         End which) {
    return guarded(alive_, [this, both, action, end, which](Result<backend::StoreIdentity> seen) {
      if (!seen) return fail_at(which, seen.error());
      (*both).*end = std::move(*seen);
      if (!both->source || !both->destination) return;
      const std::string& mark = options_.view->document().mark;
      const migrate::Identified identified{server_facts(*both->source, mark),
                                           server_facts(*both->destination, mark)};
      action.preflight ? look_ahead(identified) : feed(identified);
    });
  };
  options_.source->identify(take(&Both::source, End::kSource));
  options_.destination->identify(take(&Both::destination, End::kDestination));
}

// Only where both carry our marker: nothing is written to a server that may not be ours.
void MoveDriver::look_ahead(const migrate::Identified& seen) {
  const bool ours = seen.source.marked && seen.destination.marked;
  if (!ours || !seen.destination.primary) return feed(seen);
  preflight({.source = {options_.source, name_of(End::kSource)},
             .destination = {options_.destination, name_of(End::kDestination)},
             .in_range = in_range(),
             .share_ppm = share_ppm()},
            alive_, [this, seen](const PreflightResult& found) {
              if (!found.why.empty()) refused_by(found.at, found.why);
              migrate::Identified identified = seen;
              identified.unfit = found.why;
              feed(identified);
            });
}

// How much of the source's tokens the move takes.
std::uint32_t MoveDriver::share_ppm() const {
  Wide owned = 0;
  for (const ring::Entry& entry : options_.view->entries()) {
    if (entry.node == migration_.request().source) owned += ring::width(entry.range);
  }
  Wide moved = 0;
  for (const ring::TokenRange& range : migration_.request().ranges) moved += ring::width(range);
  if (owned == 0 || moved >= owned) return 1'000'000;
  return static_cast<std::uint32_t>(moved * 1'000'000 / owned);
}

void MoveDriver::act_on(const migrate::SweepBoth&) {
  CHECK(migration_.at() == migrate::Step::kSweep);
  sweep(options_.source, options_.writer, guarded(alive_, [this](Result<void> source) {
          if (!source) return fail_at(End::kSource, source.error());
          sweep(options_.destination, options_.writer,
                guarded(alive_, [this](Result<void> destination) {
                  if (!destination) return fail_at(End::kDestination, destination.error());
                  feed(migrate::Swept{});
                }));
        }));
}

// By value: a page of keys may arrive after the driver is gone, at a store that is still there.
backend::Store::KeyFilter MoveDriver::in_range() const {
  return [ranges = migration_.request().ranges, view = options_.view](std::string_view key) {
    return !key.starts_with(backend::kOwnPrefix) && ring::contains(ranges, view->token_of(key));
  };
}

// Page by page to the end: how many keys lie there is what a person wants to know.
void MoveDriver::check_page(const std::string& from, migrate::Checked found) {
  options_.destination->list(
      from, in_range(),
      guarded(alive_, [this, found = std::move(found)](Result<backend::Page> page) mutable {
        if (!page) return fail_at(End::kDestination, page.error());
        found.foreign += page->keys.size();
        for (std::string& key : page->keys) {
          if (found.examples.size() < kExamplesMax) found.examples.push_back(std::move(key));
        }
        if (page->next.empty()) return feed(found);
        check_page(page->next, std::move(found));
      }));
}

void MoveDriver::act_on(const migrate::Check&) {
  CHECK(migration_.at() == migrate::Step::kCheck);
  check_page("", {});
}

void MoveDriver::act_on(const migrate::ScanNext& action) {
  CHECK(migration_.at() == migrate::Step::kScan);
  if (action.from_start) scan_cursor_.clear();
  options_.source->list(
      scan_cursor_, in_range(), guarded(alive_, [this](Result<backend::Page> page) {
        if (!page) return fail_at(End::kSource, page.error());
        scan_cursor_ = page->next;
        feed(migrate::ScanPage{.keys = std::move(page->keys), .last = page->next.empty()});
      }));
}

void MoveDriver::act_on(const migrate::CopyKeys& action) {
  CHECK(!action.keys.empty() || !action.pieces.empty() || !action.elements.empty());
  copier_.copy(action, guarded(alive_, [this](Result<migrate::Copied> copied) {
                 if (!copied)
                   return fail_at(copier_.failed_at().value_or(End::kSource), copied.error());
                 feed(*copied);
               }));
}

void MoveDriver::act_on(const migrate::WaitReplicas& action) {
  CHECK(migration_.at() == migrate::Step::kReplicas && action.replicas > 0);
  options_.destination->wait_replicas(action.replicas,
                                      guarded(alive_, [this](Result<std::uint32_t> reached) {
                                        if (!reached)
                                          return fail_at(End::kDestination, reached.error());
                                        feed(migrate::ReplicasWaited{*reached});
                                      }));
}

// ---- the document -------------------------------------------------------------------------------

void MoveDriver::act_on(const migrate::Write& action) {
  const auto edit = [this, alive = std::weak_ptr<void>(alive_), change = action.change](
                        const ring::Document& document) -> Result<ring::Document> {
    if (alive.expired()) return fail(Code::kConflict, "the driver of the move is gone");
    if (document.leader != options_.leader)
      return fail(Code::kConflict, "another leader drives this pool now");
    return migration_.edit(change, document, options_.loop.wall_now());
  };
  // What was written, or what the refusal is about, was seen before this answer
  // (document_writer.h). Which move is ours nothing but the answer tells.
  auto done =
      guarded(alive_, [this, change = action.change](const Result<SharedDocument>& written) {
        if (!written) return feed(migrate::WriteRefused{written.error().message});
        if (change == migrate::Change::kBegin) feed(migrate::Written{*written});
      });
  // A move begins soon or never: later nobody may want it. One that begins all the same, unseen, is
  // aborted (MoveBoard::abort_strays).
  if (action.change == migrate::Change::kBegin)
    return options_.writer.order(edit, kBeginPatience, std::move(done), nullptr);
  options_.writer.edit(edit, std::move(done));
}

// ---- the routers --------------------------------------------------------------------------------
// A router that is not known (yet), or whose answer was lost, is asked again while the step lasts;
// the machine's own patience ends that.

void MoveDriver::ask_again(std::function<void()> ask) {
  options_.loop.after(kAskAgain, guarded(alive_, std::move(ask)));
}

void MoveDriver::act_on(const migrate::AwaitCopying& action) {
  CHECK(migration_.copying_epoch() != Epoch{});  // rule 4
  if (migration_.at() != migrate::Step::kAwaitCopying) return;
  const auto again = [this, action] { ask_again([this, action] { act_on(action); }); };
  peer::RouterPeer* router = options_.directory.find(action.session);
  if (router == nullptr) return again();
  router->await_copying(migration_.id(), migration_.copying_epoch(),
                        guarded(alive_, [this, action, again](Result<void> done) {
                          done ? feed(migrate::CopyingAcked{action.session}) : again();
                        }));
}

// Elements will not do where keys vanish and come again unseen (rule 27 d).
void MoveDriver::act_on(const migrate::Take& action) {
  CHECK(action.number > 0);
  const bool elements = !options_.source->may_evict();
  ask_take(action.session, {action.number, elements ? action.watch : std::vector<std::string>{}});
}

void MoveDriver::ask_take(const SessionId& session, const peer::TakeOrder& order) {
  const migrate::Step at = migration_.at();
  if (at != migrate::Step::kRounds && at != migrate::Step::kScan) return;
  const auto again = [this, session, order] {
    ask_again([this, session, order] { ask_take(session, order); });
  };
  peer::RouterPeer* router = options_.directory.find(session);
  if (router == nullptr) return again();
  router->take(migration_.id(), migration_.copying_epoch(), order,
               guarded(alive_, [this, session, again](Result<peer::DirtyBatch> batch) {
                 if (!batch) return again();
                 if (batch->whole_range) copied_->keys = 0;  // a flush, most often
                 feed(migrate::Taken{.session = session,
                                     .number = batch->number,
                                     .keys = std::move(batch->keys),
                                     .whole_range = batch->whole_range,
                                     .elements = std::move(batch->elements)});
               }));
}

void MoveDriver::act_on(const migrate::AwaitFenced& action) {
  CHECK(migration_.fenced_epoch() != Epoch{});  // rule 4
  if (migration_.at() != migrate::Step::kAwaitFenced) return;
  const auto again = [this, action] { ask_again([this, action] { act_on(action); }); };
  peer::RouterPeer* router = options_.directory.find(action.session);
  if (router == nullptr) return again();
  const NodeId source = migration_.request().source;
  router->await_fenced(migration_.id(), migration_.fenced_epoch(),
                       guarded(alive_, [this, action, again, source](Result<peer::FencedAck> ack) {
                         if (!ack) return again();
                         if (ack->last.whole_range) copied_->keys = 0;
                         feed(migrate::FencedAcked{.session = action.session,
                                                   .keys = std::move(ack->last.keys),
                                                   .whole_range = ack->last.whole_range,
                                                   .source_incarnations = ack->incarnations[source],
                                                   .elements = std::move(ack->last.elements)});
                       }));
}

void MoveDriver::act_on(const migrate::Over&) {
  CHECK(migration_.is_over());
  CHECK(told_begun_ || migration_.id() == MoveId{});
  if (!told_begun_ && options_.begun)
    options_.begun(fail(Code::kConflict, migration_.outcome().why));
  told_begun_ = true;
  options_.loop.post(guarded(alive_, [this] { options_.over(*this); }));
}

}  // namespace cleave::control
