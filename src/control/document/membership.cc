#include "control/document/membership.h"

#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "peer/messages.h"

namespace cleave::control {
namespace {

constexpr milliseconds kJoinRetry{200};
constexpr milliseconds kHeldRetry{1'000};  // each asks every server

}  // namespace

Membership::Membership(net::Loop& loop, DocumentWriter& writer, Options options)
    : loop_(loop), writer_(writer), options_(std::move(options)) {
  CHECK(!options_.session.value().empty());
  CHECK(options_.publish != nullptr && options_.removed != nullptr && options_.log != nullptr);
}

void Membership::join(std::function<void()> joined) {
  CHECK(joined != nullptr && view_ == nullptr);
  const ring::Router router{.session = options_.session,
                            .peer = options_.peer_address,
                            .reader = ring::kTextReader,
                            .peer_version = peer::kVersion};
  writer_.edit([router](const ring::Document& document) { return ring::join(document, router); },
               guarded(alive_, [this, joined = std::move(joined)](Result<SharedDocument> document) {
                 if (document) {
                   publish(*document);
                   return joined();
                 }
                 if (document.error().code == Code::kNotFound) return create_then_join(joined);
                 be_removed("cannot join the ring document: " + document.error().message);
               }));
}

void Membership::create_then_join(std::function<void()> joined) {
  if (!options_.may_create || options_.mutations.new_ring_anyway) return create(std::move(joined));
  options_.may_create(guarded(alive_, [this, joined = std::move(joined)](const Result<void>& may) {
    if (!may) return hold(may.error(), joined);
    create(joined);
  }));
}

// Another router may have made the document and its marks since it was read: it is read once more
// before anybody is told. Once, not with each look: the numbers in it change all the time.
void Membership::hold(const Error& why, std::function<void()> joined) {
  CHECK(view_ == nullptr && !why.message.empty());
  if (!std::exchange(asked_again_, true)) return join(std::move(joined));
  if (held_by_ != why.code) options_.log(why.message);
  held_by_ = why.code;
  held_ = why.message;
  join_later(kHeldRetry, std::move(joined));
}

void Membership::join_later(milliseconds after, std::function<void()> joined) {
  loop_.after(after, guarded(alive_, [this, joined = std::move(joined)] { join(joined); }));
}

void Membership::create(std::function<void()> joined) {
  CHECK(view_ == nullptr);  // rule 2: a session joins once
  Result<ring::Document> first = ring::create(options_.creation);
  if (!first) return be_removed("cannot create the ring: " + first.error().message);
  writer_.create(std::move(*first), guarded(alive_, [this, joined](Result<SharedDocument> created) {
                   // Created by another meanwhile, or the coordinator is away: join finds out.
                   if (created || created.error().code == Code::kConflict) return join(joined);
                   options_.log("cannot create the ring document yet: " + created.error().message);
                   join_later(kJoinRetry, joined);
                 }));
}

void Membership::follow(const SharedDocument& document) {
  CHECK(document != nullptr);
  if (view_ == nullptr || removed_) return;
  if (!ring::has_router(*document, options_.session) && !options_.mutations.removed_goes_on) {
    return be_removed("session " + options_.session.value() + " was removed from the ring");
  }
  publish(document);
}

// At the router's own wish (rule 2); it has stopped serving before.
void Membership::leave(std::function<void(Result<SharedDocument>)> left) {
  CHECK(view_ != nullptr && left != nullptr);
  removed_ = true;
  writer_.edit(
      [session = options_.session](const ring::Document& document) {
        return ring::remove_router(document, session);
      },
      guarded(alive_, std::move(left)));
}

// Views only go forward (rule 9).
void Membership::publish(const SharedDocument& document) {
  const bool newer = view_ == nullptr || document->epoch > view_->epoch();
  if (!newer && !options_.mutations.views_go_back) return;
  Result<ring::RingSnapshot> view = ring::RingView::build(*document, view_.get());
  if (!view) return be_removed("the ring document cannot be used: " + view.error().message);
  // Rules 2 and 9: what the data path serves by shows its session, and is newer than before.
  CHECK(ring::has_router((*view)->document(), options_.session));
  CHECK(view_ == nullptr || view_->epoch() < (*view)->epoch());
  view_ = std::move(*view);
  held_.clear();
  options_.publish(view_);
}

void Membership::be_removed(const std::string& why) {
  CHECK(!why.empty());
  if (removed_) return;
  removed_ = true;
  options_.removed(Error{Code::kConflict, why});
}

// The read has told `follow` of what it brought before this callback runs, so the view is at least
// that read when the answer is yes.
void Membership::confirm(std::function<void(Result<void>)> done) {
  if (options_.mutations.no_gate_read) return loop_.post([done] { done({}); });
  writer_.read(guarded(alive_, [this, done = std::move(done)](Result<SharedDocument> document) {
    if (!document) return done(std::unexpected(document.error()));
    if (removed_ || !ring::has_router(**document, options_.session))
      return done(fail(Code::kConflict, "this session is not in the ring document"));
    // Rule 5: only by a view at least as new. There is none while our own join is not answered yet.
    if (view_ == nullptr || view_->epoch() < (*document)->epoch)
      return done(fail(Code::kUnavailable, "this session has no view that is as new yet"));
    done({});
  }));
}

}  // namespace cleave::control
