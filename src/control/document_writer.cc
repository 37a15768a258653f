#include "control/document_writer.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"

namespace cleave::control {
namespace {

constexpr milliseconds kRetry{200};

}  // namespace

DocumentWriter::DocumentWriter(net::Loop& loop, coord::Register& store,
                               std::function<void(SharedDocument)> seen,
                               std::function<void(const std::string&)> log, Mutations mutations)
    : loop_(loop),
      store_(store),
      seen_(std::move(seen)),
      log_(std::move(log)),
      mutations_(mutations) {
  store_.watch(guarded(alive_, [this](const coord::Stored& stored) {
    // Late news may be old news: only a read can tell that the register went back.
    if (stored.epoch != Epoch{} && !went_back(stored, Epoch{})) (void)take_in(stored);
  }));
}

void DocumentWriter::read(Done done) {
  next_readers_.push_back(std::move(done));
  if (!reading_) begin_read();
}

void DocumentWriter::begin_read() {
  reading_ = true;
  readers_ = std::exchange(next_readers_, {});
  // What was known before the read began, it must show: it is linearizable.
  const Epoch known_before = newest_ == nullptr ? Epoch{} : newest_->epoch;
  store_.read(guarded(alive_, [this, known_before](Result<coord::Stored> stored) {
    Result<SharedDocument> document = fail(Code::kNotFound, "there is no ring document yet");
    if (!stored) {
      if (!went_back_) trouble_ = stored.error().message;
      document = std::unexpected(stored.error());
    } else if (went_back(*stored, known_before)) {
      document = fail(Code::kConflict, trouble_);
    } else {
      trouble_.clear();
      if (stored->epoch != Epoch{}) document = take_in(*stored);
    }
    const std::vector<Done> readers = std::exchange(readers_, {});
    reading_ = false;
    if (!next_readers_.empty()) begin_read();
    const std::weak_ptr<void> alive = alive_;
    for (const Done& done : readers) {
      if (!alive.expired()) done(document);
    }
  }));
}

bool DocumentWriter::went_back(const coord::Stored& stored, Epoch known_before) {
  if (mutations_.follow_old_backup) return false;
  const bool ours =
      newest_ != nullptr && stored.epoch == newest_->epoch && stored.text == newest_text_;
  if (ours) went_back_ = false;
  // Its epochs may have grown to ours since: another document under our number.
  const bool other = newest_ != nullptr && stored.epoch == newest_->epoch && !ours;
  if (went_back_ || (stored.epoch >= known_before && !other)) return went_back_;
  went_back_ = true;
  trouble_ = "the coordinator went back: it shows another epoch " +
             std::to_string(stored.epoch.value()) +
             " than was there before (an old backup, or writes lost in a failover): this router "
             "goes on with the ring of epoch " +
             std::to_string(newest_->epoch.value()) +
             " and moves nothing. Restore the newest state of the coordinator; if there is none, "
             "restart all routers, which then take the older ring for the truth";
  return true;
}

Result<SharedDocument> DocumentWriter::take_in(const coord::Stored& stored) {
  if (newest_ != nullptr && stored.epoch == newest_->epoch && stored.text == newest_text_)
    return newest_;
  Result<ring::Document> document = ring::parse_document(stored.text);
  if (!document) {
    return refuse(stored, "the ring document cannot be read: " + document.error().message);
  }
  if (document->epoch != stored.epoch)
    return refuse(stored, "the ring document's epoch is not the register's");
  auto shared = std::make_shared<const ring::Document>(std::move(*document));
  if (newest_ == nullptr || newest_->epoch < shared->epoch || mutations_.views_go_back) {
    newest_text_ = stored.text;
    note(shared);
  }
  return shared;
}

// Told once, for a start tries again some times a second.
std::unexpected<Error> DocumentWriter::refuse(const coord::Stored& stored, const std::string& why) {
  trouble_ = why;
  if (stored.epoch != refused_) log_(why);
  refused_ = stored.epoch;
  return fail(Code::kInvalid, why);
}

void DocumentWriter::note(SharedDocument document) {
  newest_ = std::move(document);
  seen_(newest_);
}

void DocumentWriter::create(ring::Document first, Done done) {
  const std::string text = ring::to_text(first);
  auto shared = std::make_shared<const ring::Document>(std::move(first));
  store_.begin(shared->epoch, text,
               guarded(alive_, [this, shared, text, done = std::move(done)](Result<Epoch> epoch) {
                 if (!epoch) return done(std::unexpected(epoch.error()));
                 newest_text_ = text;
                 note(shared);
                 done(shared);
               }));
}

void DocumentWriter::edit(Edit edit, Done done) {
  edits_.push_back({.edit = std::move(edit), .done = std::move(done), .tried = {}});
  if (!editing_) next_edit();
}

void DocumentWriter::next_edit() {
  editing_ = !edits_.empty();
  if (!editing_) return;
  // The newest document known is a guess: where it is old, the compare-and-set says so.
  if (newest_ != nullptr && !went_back_) return apply(*newest_);
  read_and_apply();
}

void DocumentWriter::apply(const ring::Document& document) {
  Result<ring::Document> edited = edits_.front().edit(document);
  if (edited) return write(document.epoch, std::move(*edited));
  // A refusal counts only on what the register really holds: read before it is believed.
  read([this, tried = document.epoch, refusal = edited.error()](Result<SharedDocument> now) {
    if (!now) return retry_later();
    if ((*now)->epoch == tried) return finish_edit(std::unexpected(refusal));
    settle(*now);
  });
}

void DocumentWriter::write(Epoch expected, ring::Document document) {
  std::string text = ring::to_text(document);
  auto shared = std::make_shared<const ring::Document>(std::move(document));
  store_.compare_and_set(expected, text,
                         guarded(alive_, [this, shared, text](Result<Epoch> result) {
                           written(std::move(result), shared, text);
                         }));
}

void DocumentWriter::written(Result<Epoch> result, SharedDocument document, std::string text) {
  if (result) {
    if (!went_back_) trouble_.clear();
    if (newest_ == nullptr || newest_->epoch < document->epoch) {
      newest_text_ = std::move(text);
      note(document);
    }
    return finish_edit(std::move(document));
  }
  if (result.error().code == Code::kConflict && mutations_.commit_without_cas)
    return overwrite(document);
  // Lost the race, or nobody knows: what the register shows decides, also about this attempt.
  if (result.error().code != Code::kConflict && !went_back_) trouble_ = result.error().message;
  edits_.front().tried.push_back(std::move(text));
  read_and_apply();
}

// Only as a mutant: what was lost to a race is written over whoever won it.
void DocumentWriter::overwrite(const SharedDocument& document) {
  read([this, document](Result<SharedDocument> now) {
    if (!now) return retry_later();
    ring::Document forced = *document;
    forced.epoch = Epoch{(*now)->epoch.value() + 1};
    write((*now)->epoch, std::move(forced));
  });
}

void DocumentWriter::read_and_apply() {
  read([this](Result<SharedDocument> now) {
    if (!now && now.error().code == Code::kNotFound) return finish_edit(std::move(now));
    if (!now) return retry_later();
    settle(*now);
  });
}

void DocumentWriter::settle(const SharedDocument& now) {
  const std::vector<std::string>& tried = edits_.front().tried;
  if (!tried.empty() && std::ranges::find(tried, ring::to_text(*now)) != tried.end())
    return finish_edit(now);
  apply(*now);
}

void DocumentWriter::retry_later() {
  loop_.after(kRetry, guarded(alive_, [this] { read_and_apply(); }));
}

void DocumentWriter::finish_edit(Result<SharedDocument> result) {
  const Done done = std::move(edits_.front().done);
  edits_.pop_front();
  const std::weak_ptr<void> alive = alive_;
  done(std::move(result));
  if (!alive.expired()) next_edit();
}

}  // namespace cleave::control
