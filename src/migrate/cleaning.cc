#include "migrate/cleaning.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ring/canonical.h"

namespace cleave::migrate {
namespace {

constexpr milliseconds kAgainAfter{500};
constexpr milliseconds kAgainAfterMax{10'000};
constexpr std::size_t kExamplesMax = 3;

std::string id_text(const std::string& server) {
  return server.empty() ? "one without an id" : "id " + server;
}

std::string name_of(NodeId node) { return "node " + std::to_string(node.value()); }

}  // namespace

std::string_view to_string(CleaningStep step) {
  switch (step) {
    case CleaningStep::kQuiet: return "quiet";
    case CleaningStep::kSweep: return "sweep";
    case CleaningStep::kLook: return "look";
    case CleaningStep::kJudge: return "judge";
    case CleaningStep::kPages: return "pages";
    case CleaningStep::kVerify: return "verify";
    case CleaningStep::kDrop: return "drop";
    case CleaningStep::kKeep: return "keep";
    case CleaningStep::kWaiting: return "waiting";
    case CleaningStep::kOver: return "over";
  }
  return "unknown";
}

bool has_everything(const ring::Leftover& entry, const ServerFacts& now) {
  if (!now.primary) return false;
  if (now.incarnation == entry.incarnation) return true;
  // A replica that took over names the life before its own, and where in its stream that ended.
  return entry.offset > 0 && now.former_replication_id == entry.incarnation.replication_id &&
         now.former_offset > entry.offset;
}

bool is_same_server(const ring::Leftover& entry, const ServerFacts& now) {
  return entry.server.empty() || entry.server == now.server;
}

Cleaning::Cleaning(ring::Leftover entry, Options options)
    : entry_(std::move(entry)), options_(options) {
  CHECK(!entry_.kept());  // rule 23 e: that is for a person
  CHECK(entry_.move != MoveId{} && entry_.node != NodeId{});
  CHECK(!entry_.ranges.empty() && ring::is_canonical(entry_.ranges));
}

CleaningActions Cleaning::step(const CleaningEvent& event, Instant now) {
  if (is_over()) return {};
  CleaningActions actions = std::visit([&](const auto& what) { return on(what, now); }, event);
  check_rules();
  return actions;
}

// What holds between any two events.
void Cleaning::check_rules() const {
  // An entry never names the owner of its ranges, and of its two nodes one has what the other lost.
  CHECK(entry_.holder != entry_.node);
  CHECK(entry_.state != ring::LeftoverState::kBegun || entry_.holder != NodeId{});
  CHECK(!entry_.kept() || is_over());
  // Rule 23 b and c: nothing is deleted before the node was swept and looked at.
  const bool deletes = step_ == CleaningStep::kPages || step_ == CleaningStep::kVerify ||
                       step_ == CleaningStep::kDrop;
  CHECK(!deletes || swept_);
  CHECK(!deletes || !node_.run_id.empty());
  // Rule 23 e: nor before the document says that it is begun.
  CHECK(!deletes || entry_.holder == NodeId{} || entry_.state == ring::LeftoverState::kBegun);
  CHECK(step_ != CleaningStep::kJudge || entry_.holder != NodeId{});
  CHECK(step_ != CleaningStep::kKeep || !keeps_for_.empty());
  CHECK(step_ != CleaningStep::kWaiting || !waits_for_.empty());
  CHECK(progress_.examples.size() <= kExamplesMax);
}

Result<ring::Document> Cleaning::edit(CleaningChange change, const ring::Document& document) const {
  switch (change) {
    case CleaningChange::kBegun: return ring::begin_cleaning(document, entry_);
    case CleaningChange::kKept: return ring::keep_leftover(document, entry_, keeps_for_);
    case CleaningChange::kDrop: return ring::drop_leftover(document, entry_);
  }
  return fail(Code::kInvalid, "no such change");
}

CleaningActions Cleaning::on(const Start&, Instant now) {
  went_well_ = now;
  return step_ == CleaningStep::kQuiet ? CleaningActions{AwaitQuiet{}} : CleaningActions{};
}

CleaningActions Cleaning::on(const Quiet&, Instant) {
  if (step_ != CleaningStep::kQuiet) return {};
  waits_for_.clear();
  swept_ = false;
  if (options_.mutations.clean_no_sweep) return enter(CleaningStep::kLook, {LookAt{}});
  return enter(CleaningStep::kSweep, {SweepNode{}});
}

CleaningActions Cleaning::on(const Swept&, Instant) {
  if (step_ != CleaningStep::kSweep) return {};
  swept_ = true;
  return enter(CleaningStep::kLook, {LookAt{}});
}

CleaningActions Cleaning::on(const LookedAt& event, Instant now) {
  switch (step_) {
    case CleaningStep::kLook: return looked_first(event, now);
    case CleaningStep::kPages:
      if (std::string why = against(event); !why.empty()) return keep(std::move(why));
      return clean_page();
    case CleaningStep::kVerify:
      if (std::string why = against(event); !why.empty()) return keep(std::move(why));
      // A server that came back in between may have brought back what was deleted before.
      if (event.node.incarnation != node_ || !event.node.primary)
        return later(name_of(entry_.node) + " restarted or failed over meanwhile", now);
      return enter(CleaningStep::kDrop, {WriteEntry{CleaningChange::kDrop}});
    default: return {};
  }
}

CleaningActions Cleaning::looked_first(const LookedAt& event, Instant now) {
  if (!event.node.marked && !options_.mutations.no_marker_check) {
    return later(name_of(entry_.node) +
                     " does not carry this pool's ownership marker (any more): see 'cleave adopt'",
                 now);
  }
  if (!event.node.primary) return later(name_of(entry_.node) + " is not a primary", now);
  node_ = event.node.incarnation;
  if (std::string why = against(event); !why.empty()) return keep(std::move(why));
  const bool judged = entry_.holder == NodeId{} || entry_.state == ring::LeftoverState::kBegun ||
                      options_.mutations.clean_unjudged;
  listing_ = false;
  if (judged) return enter(CleaningStep::kPages, clean_page());
  return enter(CleaningStep::kJudge, {WriteEntry{CleaningChange::kBegun}});
}

std::string Cleaning::against(const LookedAt& event) const {
  // Rule 23 f: what lies there may be all that somebody has.
  if (!is_same_server(entry_, event.node) && !options_.mutations.clean_any_server) {
    std::string why{kAnotherServer};
    why += " (" + id_text(event.node.server);
    return why + "; the copies are on " + id_text(entry_.server) + ")";
  }
  if (entry_.holder == NodeId{} || options_.mutations.no_holder_check) return {};
  if (event.holder && has_everything(entry_, *event.holder)) return {};
  return "the server that the move went to lost its data after the commit";
}

CleaningActions Cleaning::clean_page() {
  return {CleanPage{.from_start = !std::exchange(listing_, true)}};
}

// What lies there may be the only whole copy, or nobody's of us.
CleaningActions Cleaning::keep(std::string why) {
  keeps_for_ = std::move(why);
  return enter(CleaningStep::kKeep, {WriteEntry{CleaningChange::kKept}});
}

CleaningActions Cleaning::on(const PageCleaned& event, Instant now) {
  if (step_ != CleaningStep::kPages) return {};
  failures_ = 0;
  stuck_.clear();
  went_well_ = now;
  progress_.deleted += event.deleted;
  progress_.unknown += event.unknown;
  progress_.spared += event.spared;
  for (const std::string& key : event.examples) {
    if (progress_.examples.size() < kExamplesMax) progress_.examples.push_back(key);
  }
  if (event.last || options_.mutations.drop_early) return enter(CleaningStep::kVerify, {LookAt{}});
  if (entry_.holder == NodeId{} && entry_.server.empty()) return clean_page();
  return {LookAt{}};
}

CleaningActions Cleaning::on(const Written& event, Instant now) {
  return on(DocumentSeen{event.document}, now);
}

// The document as it is decides, whoever changed it.
CleaningActions Cleaning::on(const DocumentSeen& event, Instant) {
  const ring::Leftover* now = ring::find_leftover(*event.document, entry_.move);
  if (now == nullptr || now->kept()) {
    if (now != nullptr) entry_ = *now;
    return enter(CleaningStep::kOver, {Over{}});
  }
  entry_ = *now;
  if (step_ == CleaningStep::kJudge && entry_.state == ring::LeftoverState::kBegun)
    return enter(CleaningStep::kPages, {LookAt{}});  // the compare-and-set took its time
  return {};
}

CleaningActions Cleaning::on(const WriteRefused& event, Instant now) {
  const bool writing =
      step_ == CleaningStep::kJudge || step_ == CleaningStep::kDrop || step_ == CleaningStep::kKeep;
  return writing ? later(event.why, now) : CleaningActions{};
}

CleaningActions Cleaning::on(const Failed& event, Instant now) {
  if (step_ == CleaningStep::kWaiting) return {};
  return later(event.why, now);
}

CleaningActions Cleaning::on(const Tick&, Instant now) {
  if (step_ != CleaningStep::kWaiting || now < again_at_) return {};
  return enter(CleaningStep::kQuiet, {AwaitQuiet{}});
}

CleaningActions Cleaning::enter(CleaningStep step, CleaningActions actions) {
  step_ = step;
  return actions;
}

// Rule 23: after a lost connection or a new incarnation again from (a).
CleaningActions Cleaning::later(std::string why, Instant now) {
  waits_for_ = std::move(why);
  stuck_ = waits_for_;
  const milliseconds wait = kAgainAfter * (std::int64_t{1} << std::min(failures_, 10U));
  again_at_ = now + std::min(wait, kAgainAfterMax);
  ++failures_;
  return enter(CleaningStep::kWaiting, {});
}

}  // namespace cleave::migrate
