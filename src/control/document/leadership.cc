#include "control/document/leadership.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

// With both, a router that is idle costs the coordinator one operation a second.
constexpr seconds kLookAtLeast{8};
constexpr milliseconds kLookAgain{500};

}  // namespace

Leadership::Leadership(net::Loop& loop, coord::Register& store, DocumentWriter& writer,
                       Options options)
    : loop_(loop), store_(store), writer_(writer), options_(std::move(options)) {
  CHECK(!options_.session.value().empty());
  CHECK(options_.lease > milliseconds{0});
  CHECK(options_.leads != nullptr && options_.lost != nullptr && options_.log != nullptr);
}

void Leadership::start() {
  kept_ = loop_.now();
  beat();
  look();
}

void Leadership::stop() { stopped_ = true; }

// Two beats a lease and a little: one that is late does not end it.
void Leadership::beat() {
  if (stopped_) return;
  store_.keep_alive(options_.session, options_.lease,
                    guarded(alive_, [this, asked = loop_.now()](const Result<void>& kept) {
                      writer_.note_lease(kept);
                      note_beat(kept.has_value(), asked);
                    }));
  loop_.after(options_.lease * 9 / 20, guarded(alive_, [this] { beat(); }));
}

// While the coordinator was away nobody could renew a lease. Whoever is back first must not remove
// those who are alive and about to come back too: it gives them one lease's time.
void Leadership::note_beat(bool kept, Instant asked) {
  CHECK(asked <= loop_.now());
  const bool in_time = kept && loop_.now() - asked < options_.lease / 2;
  if (in_time) kept_ = asked;
  if (in_time && troubled_) judges_from_ = loop_.now() + options_.lease;
  troubled_ = !in_time;
}

// Who is alive; and the document, so that a lost notification is made good and a coordinator that
// went back is seen.
void Leadership::look() {
  if (stopped_) return;
  const bool rarely = options_.all_heard != nullptr;
  const bool due = loop_.now() - looked_ >= kLookAtLeast;
  if (joined_ && (!rarely || due || !options_.all_heard())) {
    looked_ = loop_.now();
    store_.alive(guarded(alive_, [this](Result<std::vector<SessionId>> alive) {
      if (alive && !stopped_) judge(*alive);
    }));
    writer_.read([](const Result<SharedDocument>&) {});
  }
  loop_.after(rarely ? kLookAgain : options_.lease / 3, guarded(alive_, [this] { look(); }));
}

void Leadership::judge(const std::vector<SessionId>& alive) {
  CHECK(joined_);  // rule 2: who is no member judges nobody
  const SharedDocument document = writer_.newest();
  // Our own beats are not answered either: who is missing may be as alive as we are.
  if (loop_.now() - kept_ > options_.lease) troubled_ = true;
  if (document == nullptr || writing_ || troubled_ || loop_.now() < judges_from_) return;
  const auto is_alive = [&](const SessionId& session) {
    return session == options_.session || std::ranges::find(alive, session) != alive.end();
  };
  const SessionId& leader = document->leader.session;
  if (!leads_ && (!ring::has_router(*document, leader) || !is_alive(leader))) return take_term();
  if (!leads_) return;
  for (const ring::Router& router : document->routers) {
    if (!is_alive(router.session)) return remove(router.session);
  }
}

void Leadership::take_term() {
  CHECK(!writing_ && !leads_ && writer_.newest() != nullptr);
  writing_ = true;
  const ring::Leader seen = writer_.newest()->leader;
  writer_.edit(
      [session = options_.session, seen,
       mutations = options_.mutations](const ring::Document& document) -> Result<ring::Document> {
        // Another was faster: it is alive, and its term is not ours to end.
        if (document.leader != seen) return fail(Code::kConflict, "another leads already");
        Result<ring::Document> led = ring::lead(document, session);
        if (led && mutations.term_keeps_moves) led->moves = document.moves;
        return led;
      },
      guarded(alive_, [this](const Result<SharedDocument>&) { writing_ = false; }));
}

void Leadership::remove(const SessionId& session) {
  CHECK(leads_ && !writing_);  // rule 2: only the leader takes another one out
  CHECK(session != options_.session);
  writing_ = true;
  writer_.edit(
      [session, leader = leader_,
       mutations = options_.mutations](const ring::Document& document) -> Result<ring::Document> {
        if (document.leader != leader) return fail(Code::kConflict, "another leads now");
        Result<ring::Document> without = ring::remove_router(document, session);
        if (without && mutations.removal_keeps_moves) without->moves = document.moves;
        return without;
      },
      guarded(alive_, [this, session](Result<SharedDocument> document) {
        writing_ = false;
        if (document) options_.log("removed session " + session.value() + ": its lease is gone");
      }));
}

void Leadership::follow(const SharedDocument& document) {
  CHECK(document != nullptr);
  const bool ours = document->leader.session == options_.session && document->leader.term != Term{};
  if (leads_ && (!ours || document->leader != leader_)) {
    leads_ = false;
    options_.lost();
  }
  if (ours && !leads_ && document->leader != leader_) {
    CHECK(document->leader.term > leader_.term);  // rule 3: a term never returns
    leads_ = true;
    leader_ = document->leader;
    options_.leads(document);
  }
}

}  // namespace cleave::control
