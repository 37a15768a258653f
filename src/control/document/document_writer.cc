#include "control/document/document_writer.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/guarded.h"
#include "control/orders/describe.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

constexpr milliseconds kRetry{200};
constexpr std::string_view kOfCoordinator = "coordinator: ";
constexpr const char* kNothing = "nothing";  // the purpose of `write_nothing`

}  // namespace

DocumentWriter::DocumentWriter(net::Loop& loop, coord::Register& store,
                               std::function<void(SharedDocument)> seen, Mutations mutations)
    : loop_(loop), store_(store), seen_(std::move(seen)), mutations_(mutations) {
  CHECK(seen_ != nullptr);
  store_.watch(guarded(alive_, [this](const coord::Stored& stored) {
    // Late news may be old news: only a read can tell that the register went back.
    if (stored.epoch != Epoch{} && !went_back(stored, Epoch{})) (void)take_in(stored);
  }));
}

void DocumentWriter::read(Done done) {
  CHECK(done != nullptr);
  next_readers_.push_back(std::move(done));
  if (!reading_) begin_read();
}

void DocumentWriter::begin_read() {
  CHECK(!reading_ && readers_.empty());  // one at a time: a later one begins behind it
  reading_ = true;
  readers_ = std::exchange(next_readers_, {});
  // What was known before the read began, it must show: it is linearizable.
  const Epoch known_before = newest_ == nullptr ? Epoch{} : newest_->epoch;
  store_.read(guarded(
      alive_, [this, known_before, failures_before = failures_](Result<coord::Stored> stored) {
        Result<SharedDocument> document = fail(Code::kNotFound, "there is no ring document yet");
        note_read(stored ? nullptr : &stored.error(), failures_before);
        if (!stored) {
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
    return refuse("the ring document cannot be read: " + document.error().message);
  }
  if (document->epoch != stored.epoch)
    return refuse("the ring document's epoch is not the register's");
  auto shared = std::make_shared<const ring::Document>(std::move(*document));
  if (newest_ == nullptr || newest_->epoch < shared->epoch || mutations_.views_go_back)
    note(shared, stored.text);
  return shared;
}

std::unexpected<Error> DocumentWriter::refuse(const std::string& why) {
  trouble_ = why;
  return fail(Code::kInvalid, why);
}

void DocumentWriter::note(SharedDocument document, std::string text) {
  CHECK(document != nullptr && document->epoch != Epoch{});
  // Rule 9: views only go forward.
  CHECK(newest_ == nullptr || newest_->epoch < document->epoch || mutations_.views_go_back);
  newest_text_ = std::move(text);
  newest_ = std::move(document);
  const std::weak_ptr<void> alive = alive_;
  seen_(newest_);
  if (!alive.expired()) settle_with(newest_->epoch, newest_text_);
}

void DocumentWriter::create(ring::Document first, Done done) {
  const std::string text = ring::to_text(first);
  auto shared = std::make_shared<const ring::Document>(std::move(first));
  store_.begin(shared->epoch, text,
               guarded(alive_, [this, shared, text, done = std::move(done)](Result<Epoch> epoch) {
                 if (!epoch) return done(std::unexpected(epoch.error()));
                 // The watch may have been faster.
                 if (newest_ == nullptr || newest_->epoch < shared->epoch) note(shared, text);
                 done(shared);
               }));
}

// ---- edits and orders ---------------------------------------------------------------------------

void DocumentWriter::edit(Edit edit, Done done) {
  add({.edit = std::move(edit), .done = std::move(done)});
}

void DocumentWriter::edit_once(const std::string& purpose, Edit edit, Done done) {
  CHECK(!purpose.empty());
  if (std::ranges::find(edits_, purpose, &Wanted::purpose) != edits_.end()) return;
  if (edits_.size() >= kWaitingMax) return refuse_edit(std::move(done));
  add({.edit = std::move(edit), .done = std::move(done), .purpose = purpose});
}

void DocumentWriter::order(Edit edit, milliseconds patience, Done done, Settled settled) {
  if (edits_.size() >= kWaitingMax) return refuse_edit(std::move(done));
  CHECK(patience > milliseconds{0});
  const std::uint64_t number = next_number_;
  const net::TimerId deadline =
      loop_.after(patience, guarded(alive_, [this, number] { give_up(number); }));
  add({.edit = std::move(edit),
       .done = std::move(done),
       .settled = std::move(settled),
       .deadline = deadline});
}

void DocumentWriter::refuse_edit(Done done) {
  loop_.post(guarded(alive_, [this, done = std::move(done)] {
    done(fail(Code::kExhausted,
              "too many changes wait for the coordinator already; " + not_written().message));
  }));
}

void DocumentWriter::add(Wanted wanted) {
  CHECK(wanted.edit != nullptr && wanted.done != nullptr);
  wanted.number = next_number_++;
  edits_.push_back(std::move(wanted));
  if (!editing_) next_edit();
}

// The deadline of an order.
void DocumentWriter::give_up(std::uint64_t number) {
  const auto order = std::ranges::find(edits_, number, &Wanted::number);
  if (order == edits_.end()) return;
  CHECK(!order->given_up);  // its deadline comes once
  const bool first = order == edits_.begin();
  const std::weak_ptr<void> alive = alive_;
  const Done done = std::exchange(order->done, nullptr);
  const Error why = not_written();
  if (first && writing_) {  // the answer of its compare-and-set will tell
    order->given_up = true;
    return done(fail(Code::kTimeout, why.message));
  }
  const Wanted over = std::move(*order);
  edits_.erase(order);
  if (first) editing_ = false;
  const bool late = over.missed || std::ranges::any_of(over.tried, &Tried::may_land);
  done(fail(late ? Code::kTimeout : why.code, why.message));
  if (alive.expired()) return;
  if (late) unsettle(over);
  write_nothing();
  if (!editing_) next_edit();
}

Error DocumentWriter::not_written() const {
  const std::string known = trouble();
  return {Code::kUnavailable,
          std::string(kOfCoordinator) + (known.empty() ? "it does not answer" : known)};
}

bool DocumentWriter::of_coordinator(const Error& error) {
  return error.message.starts_with(kOfCoordinator);
}

// ---- late compare-and-sets ----------------------------------------------------------------------

void DocumentWriter::unsettle(const Wanted& over) {
  if (over.settled == nullptr) return;
  Unsettled late{.tried = over.tried, .settled = over.settled, .missed = over.missed};
  std::erase_if(late.tried, [](const Tried& one) { return !one.may_land; });
  if (late.tried.empty()) return over.settled(late.missed ? Fate::kUnknown : Fate::kLost);
  unsettled_.push_back(std::move(late));
  const std::weak_ptr<void> alive = alive_;
  if (newest_ != nullptr) settle_with(newest_->epoch, newest_text_);
  if (!alive.expired() && !unsettled_.empty()) write_nothing();
}

bool DocumentWriter::holds(const std::vector<Tried>& tried, const std::string& text) {
  return std::ranges::find(tried, text, &Tried::text) != tried.end();
}

// `text` is what the register held as `epoch`: each of the late ones was it, or lost its race.
void DocumentWriter::settle_with(Epoch epoch, const std::string& text) {
  std::vector<std::pair<Settled, Fate>> known;
  std::erase_if(unsettled_, [&](Unsettled& late) {
    const bool landed = holds(late.tried, text);
    std::erase_if(late.tried, [&](const Tried& one) {
      late.missed = late.missed || one.epoch < epoch;
      return one.epoch <= epoch;
    });
    if (!landed && !late.tried.empty()) return false;
    const Fate otherwise = late.missed ? Fate::kUnknown : Fate::kLost;
    known.emplace_back(std::move(late.settled), landed ? Fate::kLanded : otherwise);
    return true;
  });
  const std::weak_ptr<void> alive = alive_;
  for (const auto& [settled, fate] : known) {
    if (!alive.expired()) settled(fate);
  }
}

// A compare-and-set that changes nothing but the epoch. It also finds out when the register takes
// writes again; in a pool where nothing happens nobody else would.
void DocumentWriter::write_nothing() {
  edit_once(
      kNothing,
      [this](const ring::Document& document) -> Result<ring::Document> {
        if (unsettled_.empty() && read_only_.what.empty())
          return fail(Code::kConflict, "there is nothing to find out any more");
        return ring::set_frozen(document, document.frozen);
      },
      [](const Result<SharedDocument>&) {});
}

// ---- one edit after the other -------------------------------------------------------------------

void DocumentWriter::next_edit() {
  editing_ = !edits_.empty();
  if (!editing_) return;
  // The newest document known is a guess: where it is old, the compare-and-set says so.
  if (newest_ != nullptr && !went_back_) return apply(*newest_);
  read_and_apply();
}

void DocumentWriter::apply(const ring::Document& document) {
  CHECK(editing_ && !writing_ && !edits_.empty());
  Result<ring::Document> edited = edits_.front().edit(document);
  if (edited) return write(document.epoch, std::move(*edited));
  // A refusal counts only on what the register really holds: read before it is believed.
  read([this, number = edits_.front().number, tried = document.epoch,
        refusal = edited.error()](Result<SharedDocument> now) {
    if (!is_first(number)) return;
    if (!now) return retry_later();
    if ((*now)->epoch == tried) return finish_edit(std::unexpected(refusal));
    settle(*now);
  });
}

void DocumentWriter::write(Epoch expected, ring::Document document) {
  // Rule 1: every change is a compare-and-set on the epoch that was read, one at a time.
  CHECK(document.epoch.value() == expected.value() + 1);
  CHECK(!writing_);
  std::string text = ring::to_text(document);
  auto shared = std::make_shared<const ring::Document>(std::move(document));
  writing_ = true;
  store_.compare_and_set(expected, text,
                         guarded(alive_, [this, shared, text](Result<Epoch> result) {
                           written(std::move(result), shared, text);
                         }));
}

void DocumentWriter::written(Result<Epoch> result, SharedDocument document, std::string text) {
  CHECK(writing_ && editing_ && !edits_.empty());
  writing_ = false;
  const bool lost_race = !result && result.error().code == Code::kConflict;
  note_write(result || lost_race ? nullptr : &result.error());
  if (result) {
    if (newest_ == nullptr || newest_->epoch < document->epoch) note(document, std::move(text));
    return finish_edit(std::move(document));
  }
  if (lost_race && mutations_.commit_without_cas) return overwrite(document);
  // Lost the race, or nobody knows: what the register shows decides, also about this attempt.
  Wanted& first = edits_.front();
  first.tried.push_back({.epoch = document->epoch,
                         .text = std::move(text),
                         .may_land = result.error().code == Code::kTimeout});
  first.rests = !lost_race;
  if (first.given_up) return finish_edit(std::unexpected(result.error()));
  read_and_apply();
}

// Only as a mutant: what was lost to a race is written over whoever won it.
void DocumentWriter::overwrite(const SharedDocument& document) {
  CHECK(mutations_.commit_without_cas);
  read([this, document, number = edits_.front().number](Result<SharedDocument> now) {
    if (!is_first(number)) return;
    if (!now) return retry_later();
    ring::Document forced = *document;
    forced.epoch = Epoch{(*now)->epoch.value() + 1};
    write((*now)->epoch, std::move(forced));
  });
}

void DocumentWriter::read_and_apply() {
  CHECK(editing_ && !writing_ && !edits_.empty());
  read([this, number = edits_.front().number](Result<SharedDocument> now) {
    if (!is_first(number)) return;
    if (!now && now.error().code == Code::kNotFound) return finish_edit(std::move(now));
    if (!now) return retry_later();
    settle(*now);
  });
}

// An order may have been given up while its read was under way.
bool DocumentWriter::is_first(std::uint64_t number) const {
  return !edits_.empty() && edits_.front().number == number;
}

void DocumentWriter::settle(const SharedDocument& now) {
  CHECK(editing_ && !edits_.empty());
  Wanted& first = edits_.front();
  CHECK(!first.given_up);
  if (!first.tried.empty() && holds(first.tried, ring::to_text(*now))) return finish_edit(now);
  for (Tried& one : first.tried) {
    if (!one.may_land || one.epoch > now->epoch) continue;
    one.may_land = false;
    first.missed = first.missed || one.epoch < now->epoch;
  }
  if (std::exchange(first.rests, false)) return retry_later();
  apply(*now);
}

void DocumentWriter::retry_later() {
  CHECK(editing_ && !writing_ && !edits_.empty());
  loop_.after(kRetry, guarded(alive_, [this, number = edits_.front().number] {
                if (is_first(number)) read_and_apply();
              }));
}

void DocumentWriter::finish_edit(Result<SharedDocument> result) {
  CHECK(editing_ && !writing_ && !edits_.empty());
  const Wanted over = std::move(edits_.front());
  edits_.pop_front();
  editing_ = false;
  loop_.cancel(over.deadline);
  const std::weak_ptr<void> alive = alive_;
  if (!over.given_up) {
    over.done(std::move(result));
  } else if (!result) {
    unsettle(over);
  } else if (over.settled != nullptr) {
    over.settled(Fate::kLanded);
  }
  if (alive.expired()) return;
  // Nobody else may write for a long time: find out ourselves when it is taken again.
  if (edits_.empty() && !read_only_.what.empty())
    loop_.after(kRetry, guarded(alive_, [this] { write_nothing(); }));
  if (!editing_) next_edit();
}

// ---- what does not work -------------------------------------------------------------------------

void DocumentWriter::note_lease(const Result<void>& renewed) {
  set_trouble(no_lease_, renewed ? nullptr : &renewed.error());
  if (!renewed) read([](const Result<SharedDocument>&) {});
}

// A read that began before a write failed tells nothing of why. One that succeeds after others had
// failed is news: what the writes then met is over, until the next one fails.
void DocumentWriter::note_read(const Error* failed, std::uint64_t failures_before) {
  if (failed == nullptr && !away_.what.empty()) read_only_ = no_lease_ = {};
  for (Trouble* writes : {&read_only_, &no_lease_}) {
    if (writes->number <= failures_before) writes->reads_go_on = failed == nullptr;
  }
  set_trouble(away_, failed);
}

void DocumentWriter::note_write(const Error* failed) { set_trouble(read_only_, failed); }

void DocumentWriter::set_trouble(Trouble& trouble, const Error* failed) {
  if (failed == nullptr) {
    trouble = {};
    return;
  }
  ++failures_;
  if (trouble.what.empty()) trouble = {.what = {}, .since = loop_.wall_now(), .number = failures_};
  trouble.what = failed->message;
}

CoordinatorState DocumentWriter::state() const {
  if (!trouble_.empty()) return CoordinatorState::kRingUnusable;
  if (!away_.what.empty()) return CoordinatorState::kAway;
  const Trouble& writes = read_only_.what.empty() ? no_lease_ : read_only_;
  if (writes.what.empty()) return CoordinatorState::kOk;
  return writes.reads_go_on ? CoordinatorState::kReadOnly : CoordinatorState::kAway;
}

std::string DocumentWriter::trouble() const {
  if (!trouble_.empty()) return trouble_;
  const CoordinatorState kind = state();
  if (kind == CoordinatorState::kOk) return "";
  const Trouble& writes = read_only_.what.empty() ? no_lease_ : read_only_;
  const Trouble& one = away_.what.empty() ? writes : away_;
  std::string text = kind == CoordinatorState::kAway ? "it does not answer" : "it takes no writes";
  text += " since ";
  text += time_text(one.since);
  text += ": ";
  text += one.what;
  return text;
}

}  // namespace cleave::control
