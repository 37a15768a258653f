#include "control/document/document_writer.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "backend/redis_testing.h"
#include "control/document/leadership.h"
#include "control/document/membership.h"
#include "coord/memory/memory_register.h"
#include "ring/edits/edits.h"

namespace cleave::control {
namespace {

using backend::run_until;

ring::Creation three_nodes() {
  ring::Creation creation{.pool = "main", .mark = "m", .nodes = {}, .mode = {}, .now = {}};
  for (const char* name : {"a", "b", "c"}) {
    ring::Node node;
    node.name = name;
    node.members = {{"127.0.0.1:" + std::to_string(7001 + creation.nodes.size()), ""}};
    creation.nodes.push_back(node);
  }
  return creation;
}

class Documents : public testing::Test {
 protected:
  // One process's view of the store.
  struct Side {
    Side(net::Loop& loop, std::shared_ptr<coord::MemoryStore> store)
        : access(loop, std::move(store)),
          writer(loop, access, [this](const SharedDocument& seen) { take(seen); }, {}) {}
    void take(const SharedDocument& seen) {
      EXPECT_TRUE(epochs.empty() || epochs.back() < seen->epoch) << "views only go forward";
      epochs.push_back(seen->epoch);
      if (on_seen) on_seen(seen);
    }
    coord::MemoryRegister access;
    std::vector<Epoch> epochs;
    std::function<void(const SharedDocument&)> on_seen;
    DocumentWriter writer;
  };

  Result<SharedDocument> edit(Side& side, DocumentWriter::Edit change) {
    std::optional<Result<SharedDocument>> result;
    side.writer.edit(std::move(change), [&](Result<SharedDocument> got) { result = got; });
    run_until(*loop_, [&] { return result.has_value(); });
    return *result;
  }

  void create(Side& side) {
    std::optional<Result<SharedDocument>> made;
    side.writer.create(*ring::create(three_nodes()),
                       [&](Result<SharedDocument> got) { made = got; });
    run_until(*loop_, [&] { return made.has_value(); });
    ASSERT_TRUE(made->has_value());
  }

  static DocumentWriter::Edit freeze(bool frozen) {
    return [frozen](const ring::Document& document) { return ring::set_frozen(document, frozen); };
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  std::shared_ptr<coord::MemoryStore> store_ = std::make_shared<coord::MemoryStore>();
};

TEST_F(Documents, WithoutOneAnEditSaysSo) {
  Side side(*loop_, store_);
  EXPECT_EQ(edit(side, freeze(true)).error().code, Code::kNotFound);
}

TEST_F(Documents, ALostRaceIsEditedAgain) {
  Side one(*loop_, store_);
  create(one);
  Side other(*loop_, store_);
  // Both at once, from the same epoch: both changes are in the end.
  std::optional<Result<SharedDocument>> joined;
  std::optional<Result<SharedDocument>> frozen;
  one.writer.edit(
      [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"r1"}}); },
      [&](Result<SharedDocument> got) { joined = got; });
  other.writer.edit(freeze(true), [&](Result<SharedDocument> got) { frozen = got; });
  run_until(*loop_, [&] { return joined && frozen; });
  const ring::Document stored = *ring::parse_document(store_->read().text);
  EXPECT_TRUE(stored.frozen);
  EXPECT_TRUE(ring::has_router(stored, SessionId{"r1"}));
  EXPECT_EQ(stored.epoch, Epoch{3});
}

TEST_F(Documents, ARefusalIsBelievedOnlyOnWhatTheRegisterHolds) {
  Side one(*loop_, store_);
  create(one);
  Side other(*loop_, store_);
  edit(other, [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"r1"}}); });
  // `one` may not have heard of r1 yet; the register has.
  const auto led =
      edit(one, [](const ring::Document& d) { return ring::lead(d, SessionId{"r1"}); });
  EXPECT_TRUE(led.has_value()) << led.error().message;
  EXPECT_EQ(edit(one, [](const ring::Document& d) { return ring::lead(d, SessionId{"nobody"}); })
                .error()
                .code,
            Code::kConflict);
}

TEST_F(Documents, EditsOfOneWriterKeepTheirOrder) {
  Side side(*loop_, store_);
  create(side);
  std::vector<bool> order;
  int answered = 0;
  for (int i = 0; i < 10; ++i) {
    const bool frozen = i % 2 == 0;
    side.writer.edit(freeze(frozen), [&, frozen](Result<SharedDocument> got) {
      ++answered;
      if (got) order.push_back((*got)->frozen == frozen);
    });
  }
  run_until(*loop_, [&] { return answered == 10; });
  EXPECT_EQ(order, std::vector<bool>(10, true));
}

// The register of a coordinator that can be set back.
class Restored final : public coord::Register {
 public:
  explicit Restored(net::Loop& loop) : loop_(loop) {}
  coord::Stored stored;

  void read(Done<coord::Stored> done) override {
    loop_.post([this, done = std::move(done)] { done(stored); });
  }
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override {
    loop_.post([this, expected, text = std::move(text), done = std::move(done)] {
      if (stored.epoch != expected) return done(fail(Code::kConflict, "another epoch"));
      stored = {Epoch{expected.value() + 1}, text};
      done(stored.epoch);
    });
  }
  void begin(Epoch first, std::string text, Done<Epoch> done) override {
    loop_.post([this, first, text = std::move(text), done = std::move(done)] {
      if (stored.epoch != Epoch{}) return done(fail(Code::kConflict, "it is begun"));
      stored = {first, text};
      done(stored.epoch);
    });
  }
  void watch(std::function<void(const coord::Stored&)> /*changed*/) override {}
  void keep_alive(const SessionId& /*session*/, milliseconds /*ttl*/, Done<void> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }
  void end_lease(const SessionId& /*session*/, Done<void> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }
  void alive(Done<std::vector<SessionId>> done) override {
    loop_.post([done = std::move(done)] { done(std::vector<SessionId>{}); });
  }

 private:
  net::Loop& loop_;
};

TEST_F(Documents, ARegisterThatWentBackIsNotBelieved) {
  Restored access(*loop_);
  DocumentWriter writer(*loop_, access, [](const SharedDocument&) {}, {});
  const auto read = [&] {
    std::optional<Result<SharedDocument>> result;
    writer.read([&](Result<SharedDocument> got) { result = got; });
    run_until(*loop_, [&] { return result.has_value(); });
    return *result;
  };
  bool created = false;
  writer.create(*ring::create(three_nodes()), [&](const auto&) { created = true; });
  run_until(*loop_, [&] { return created; });
  const coord::Stored backup = access.stored;
  bool frozen = false;
  writer.edit(freeze(true), [&](const auto&) { frozen = true; });
  run_until(*loop_, [&] { return frozen; });
  const coord::Stored newest = access.stored;
  EXPECT_TRUE(read().has_value());
  EXPECT_EQ(writer.trouble(), "");

  access.stored = backup;
  EXPECT_EQ(read().error().code, Code::kConflict);
  EXPECT_NE(writer.trouble().find("the coordinator went back"), std::string::npos);
  EXPECT_EQ(writer.state(), CoordinatorState::kRingUnusable);
  EXPECT_EQ(writer.newest()->epoch, newest.epoch) << "the view stays";
  // Nothing is written there, and what others write there is another history, however long.
  bool edited = false;
  writer.edit(freeze(false),
              [&](const Result<SharedDocument>& done) { edited = done.has_value(); });
  EXPECT_FALSE(read().has_value());
  EXPECT_EQ(access.stored.text, backup.text);
  ring::Document other = *ring::parse_document(backup.text);
  while (other.epoch.value() < newest.epoch.value() + 2) {
    other = *ring::join(other, {.session = SessionId{"r" + std::to_string(other.epoch.value())}});
    access.stored = {other.epoch, ring::to_text(other)};
    EXPECT_FALSE(read().has_value()) << other.epoch.value();
  }
  EXPECT_FALSE(edited);

  access.stored = newest;
  EXPECT_TRUE(read().has_value());
  EXPECT_EQ(writer.trouble(), "");
  run_until(*loop_, [&] { return edited; });
}

// A register that reads, and takes writes as it is told.
class Moody final : public coord::Register {
 public:
  enum class Mood : std::uint8_t {
    kGood,
    kFull,      // kUnavailable, nothing written
    kSilent,    // a compare-and-set is not answered
    kLost,      // kTimeout, and nothing is written
    kLateLost,  // kTimeout, and it was written
  };
  explicit Moody(net::Loop& loop) : loop_(loop) {}
  coord::Stored stored;
  Mood mood = Mood::kGood;
  bool reads_fail = false;
  bool holds_reads = false;  // until they are answered by hand
  std::deque<std::function<void()>> held;
  int writes = 0;
  std::function<void()> late;  // carries out the first compare-and-set, should it have been lost

  void read(Done<coord::Stored> done) override {
    auto answer = [this, done = std::move(done)] {
      if (reads_fail) return done(fail(Code::kUnavailable, "connection refused"));
      done(stored);
    };
    if (holds_reads) return held.push_back(std::move(answer));
    loop_.post(std::move(answer));
  }
  void answer_first_read() {
    const std::function<void()> answer = std::move(held.front());
    held.pop_front();
    answer();
  }
  void compare_and_set(Epoch expected, std::string text, Done<Epoch> done) override {
    ++writes;
    const auto set = [this, expected, text = std::move(text)]() -> Result<Epoch> {
      if (stored.epoch != expected) return fail(Code::kConflict, "another epoch");
      stored = {Epoch{expected.value() + 1}, text};
      return stored.epoch;
    };
    if (late == nullptr) late = [set] { (void)set(); };
    loop_.post([this, set, done = std::move(done), now = mood] {
      switch (now) {
        case Mood::kGood: return done(set());
        case Mood::kFull: return done(fail(Code::kUnavailable, "no space"));
        case Mood::kSilent: return;
        case Mood::kLost: return done(fail(Code::kTimeout, "no answer"));
        case Mood::kLateLost: (void)set(); return done(fail(Code::kTimeout, "no answer"));
      }
    });
  }
  void begin(Epoch first, std::string text, Done<Epoch> done) override {
    loop_.post([this, first, text = std::move(text), done = std::move(done)] {
      stored = {first, text};
      done(first);
    });
  }
  void watch(std::function<void(const coord::Stored&)> /*changed*/) override {}
  void keep_alive(const SessionId& /*session*/, milliseconds /*ttl*/, Done<void> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }
  void end_lease(const SessionId& /*session*/, Done<void> done) override {
    loop_.post([done = std::move(done)] { done({}); });
  }
  void alive(Done<std::vector<SessionId>> done) override {
    loop_.post([done = std::move(done)] { done(std::vector<SessionId>{}); });
  }

 private:
  net::Loop& loop_;
};

class Orders : public Documents {
 protected:
  using Fate = DocumentWriter::Fate;
  // An order and what is told of it.
  struct Told {
    std::optional<Result<SharedDocument>> answer;
    std::optional<Fate> fate;
  };

  Orders() {
    bool created = false;
    writer_.create(*ring::create(three_nodes()), [&](const auto&) { created = true; });
    run_until(*loop_, [&] { return created; });
  }
  std::shared_ptr<Told> order(DocumentWriter::Edit change) {
    const auto told = std::make_shared<Told>();
    writer_.order(
        std::move(change), milliseconds{60},
        [told](Result<SharedDocument> answer) { told->answer = std::move(answer); },
        [told](Fate fate) { told->fate = fate; });
    return told;
  }
  Result<SharedDocument> answer_to(const std::shared_ptr<Told>& told) {
    run_until(*loop_, [&] { return told->answer.has_value(); });
    return *told->answer;
  }
  ring::Document stored() const { return *ring::parse_document(access_.stored.text); }
  void pause(milliseconds time) {
    const Instant end = loop_->now() + time;
    run_until(*loop_, [&] { return loop_->now() > end; });
  }

  Moody access_{*loop_};
  DocumentWriter writer_{*loop_, access_, [](const SharedDocument&) {}, {}};
};

TEST_F(Orders, WhatWasNotWrittenInTimeIsNeverWritten) {
  access_.mood = Moody::Mood::kFull;
  const auto first = order(freeze(true));
  pause(milliseconds{20});  // given up in the turn in which it is begun, it would be unknown
  const auto second =
      order([](const ring::Document& d) { return ring::set_mode(d, ring::Mode::kAuto); });
  for (const auto& told : {first, second}) {
    const Result<SharedDocument> answer = answer_to(told);
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, Code::kUnavailable);
    EXPECT_NE(answer.error().message.find("no space"), std::string::npos);
  }
  EXPECT_NE(writer_.trouble().find("it takes no writes since "), std::string::npos);
  EXPECT_EQ(writer_.state(), CoordinatorState::kReadOnly);
  access_.mood = Moody::Mood::kGood;
  run_until(*loop_, [&] { return writer_.trouble().empty(); });
  run_until(*loop_, [&] { return writer_.waiting() == 0; });
  EXPECT_FALSE(stored().frozen);
  EXPECT_EQ(stored().mode, ring::Mode::kObserve);
}

TEST_F(Orders, AFullRegisterIsNotAskedWithoutAPause) {
  access_.mood = Moody::Mood::kFull;
  (void)answer_to(order(freeze(true)));
  const int before = access_.writes;
  pause(milliseconds{500});
  EXPECT_LE(access_.writes - before, 4);
}

TEST_F(Orders, OneThatLandedAllTheSameIsDone) {
  access_.mood = Moody::Mood::kLateLost;
  const Result<SharedDocument> answer = answer_to(order(freeze(true)));
  EXPECT_TRUE(answer.has_value()) << "the register shows it";
}

TEST_F(Orders, OneInTheAirIsUnknownUntilTheRegisterShowsIt) {
  access_.mood = Moody::Mood::kLost;
  const auto told = order(freeze(true));
  const Result<SharedDocument> answer = answer_to(told);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, Code::kTimeout);
  EXPECT_FALSE(told->fate.has_value());
  access_.late();
  access_.mood = Moody::Mood::kGood;
  run_until(*loop_, [&] { return told->fate.has_value(); });
  EXPECT_EQ(*told->fate, Fate::kLanded);
  EXPECT_TRUE(stored().frozen);
}

TEST_F(Orders, OneThatGotLostCannotLandBehindTheWriteOfNothing) {
  access_.mood = Moody::Mood::kLost;
  const auto told = order(freeze(true));
  EXPECT_EQ(answer_to(told).error().code, Code::kTimeout);
  const std::function<void()> late = access_.late;
  access_.mood = Moody::Mood::kGood;
  run_until(*loop_, [&] { return told->fate.has_value(); });
  EXPECT_EQ(*told->fate, Fate::kLost);
  late();
  EXPECT_FALSE(stored().frozen);
}

TEST_F(Orders, WhileNobodyAnswersAWriteItIsUnknown) {
  access_.mood = Moody::Mood::kSilent;
  EXPECT_EQ(answer_to(order(freeze(true))).error().code, Code::kTimeout);
  EXPECT_EQ(answer_to(order(freeze(true))).error().code, Code::kUnavailable)
      << "the second was not begun";
}

TEST_F(Orders, WhatIsWantedAgainAndAgainWaitsOnce) {
  access_.mood = Moody::Mood::kFull;
  for (int i = 0; i < 1'000; ++i)
    writer_.edit_once("abort 7", freeze(true), [](const Result<SharedDocument>&) {});
  EXPECT_EQ(writer_.waiting(), 1U);
  std::size_t refused = 0;
  for (int i = 0; i < 1'000; ++i) {
    writer_.order(
        freeze(false), milliseconds{10'000},
        [&](const Result<SharedDocument>& answer) {
          EXPECT_EQ(answer.error().code, Code::kExhausted);
          ++refused;
        },
        nullptr);
  }
  run_until(*loop_, [&] { return refused == 1'000 - DocumentWriter::kWaitingMax + 1; });
  EXPECT_EQ(writer_.waiting(), DocumentWriter::kWaitingMax);
}

TEST_F(Orders, ALeaseThatCannotBeRenewedIsTold) {
  EXPECT_EQ(writer_.trouble(), "");
  writer_.note_lease(fail(Code::kUnavailable, "database space exceeded"));
  EXPECT_NE(writer_.trouble().find("database space exceeded"), std::string::npos);
  run_until(*loop_, [&] { return writer_.state() == CoordinatorState::kReadOnly; });
  writer_.note_lease({});
  EXPECT_EQ(writer_.trouble(), "");
  EXPECT_EQ(writer_.state(), CoordinatorState::kOk);
}

// In a calm pool nobody reads for a long time: the failed lease is the first sign.
TEST_F(Orders, ALeaseThatFailsBecauseNobodyAnswersIsNoFullDisk) {
  access_.reads_fail = true;
  writer_.note_lease(fail(Code::kUnavailable, "connection refused"));
  EXPECT_EQ(writer_.state(), CoordinatorState::kAway) << "at once";
  EXPECT_NE(writer_.trouble().find("it does not answer since "), std::string::npos);
  pause(milliseconds{20});
  EXPECT_EQ(writer_.state(), CoordinatorState::kAway);
  // It is back: the failed renewal was of that time, and the next one will tell.
  access_.reads_fail = false;
  writer_.read([](const Result<SharedDocument>&) {});
  run_until(*loop_, [&] { return writer_.state() != CoordinatorState::kAway; });
  EXPECT_EQ(writer_.state(), CoordinatorState::kOk);
  EXPECT_EQ(writer_.trouble(), "");
}

TEST_F(Orders, AReadFromBeforeAFailedWriteDoesNotShowThatItAnswers) {
  access_.holds_reads = true;
  writer_.read([](const Result<SharedDocument>&) {});
  writer_.note_lease(fail(Code::kUnavailable, "no answer"));
  access_.answer_first_read();
  EXPECT_EQ(writer_.state(), CoordinatorState::kAway);
  access_.answer_first_read();
  EXPECT_EQ(writer_.state(), CoordinatorState::kReadOnly);
}

// What a router finds that was started into a pool which newer ones have changed since.
TEST_F(Documents, OneOfANewerCleaveIsToldAndLeftAlone) {
  Side side(*loop_, store_);
  create(side);
  const std::string good = store_->read().text;
  std::string newer = good;
  newer.replace(newer.find(R"("epoch":1)"), 9, R"("epoch":2)");
  const std::string wanted = R"("min_reader":)" + std::to_string(ring::kTextReader + 1);
  newer.replace(newer.find(R"("min_reader":2)"), 14, wanted);
  ASSERT_EQ(store_->compare_and_set(Epoch{1}, newer), Epoch{2});

  Side late(*loop_, store_);
  bool joined = false;
  late.writer.edit(
      [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"r"}}); },
      [&](const Result<SharedDocument>& done) { joined = done.has_value(); });
  for (int i = 0; i < 3; ++i) {
    std::optional<Result<SharedDocument>> result;
    late.writer.read([&](Result<SharedDocument> got) { result = got; });
    run_until(*loop_, [&] { return result.has_value(); });
    EXPECT_EQ(result->error().code, Code::kInvalid);
  }
  EXPECT_NE(late.writer.trouble().find("newer cleave, upgrade this one"), std::string::npos);
  EXPECT_EQ(late.writer.state(), CoordinatorState::kRingUnusable);
  EXPECT_TRUE(late.epochs.empty());
  EXPECT_EQ(store_->read().text, newer);
  EXPECT_FALSE(joined);
}

TEST_F(Documents, AnEmptyRegisterAfterADocumentIsNoBeginning) {
  Restored access(*loop_);
  DocumentWriter writer(*loop_, access, [](const SharedDocument&) {}, {});
  bool created = false;
  writer.create(*ring::create(three_nodes()), [&](const auto&) { created = true; });
  run_until(*loop_, [&] { return created; });
  access.stored = {};
  std::optional<Result<SharedDocument>> result;
  writer.read([&](Result<SharedDocument> got) { result = got; });
  run_until(*loop_, [&] { return result.has_value(); });
  EXPECT_EQ(result->error().code, Code::kConflict);
}

TEST_F(Documents, AMemberJoinsIsServedViewsAndHearsOfItsRemoval) {
  Side side(*loop_, store_);
  std::vector<Epoch> views;
  std::optional<Error> removed;
  Membership member(
      *loop_, side.writer,
      {.session = SessionId{"r1"},
       .creation = three_nodes(),
       .publish = [&](const ring::RingSnapshot& view) { views.push_back(view->epoch()); },
       .removed = [&](const Error& why) { removed = why; },
       .log = [](const std::string&) {}});
  side.on_seen = [&](const SharedDocument& seen) { member.follow(seen); };
  bool joined = false;
  member.join([&] { joined = true; });
  run_until(*loop_, [&] { return joined; });
  EXPECT_EQ(views, std::vector<Epoch>{Epoch{2}});

  std::optional<Result<void>> confirmed;
  member.confirm([&](Result<void> result) { confirmed = result; });
  run_until(*loop_, [&] { return confirmed.has_value(); });
  EXPECT_TRUE(confirmed->has_value());

  Side other(*loop_, store_);
  edit(other, [](const ring::Document& d) { return ring::remove_router(d, SessionId{"r1"}); });
  run_until(*loop_, [&] { return removed.has_value(); });
  confirmed.reset();
  member.confirm([&](Result<void> result) { confirmed = result; });
  run_until(*loop_, [&] { return confirmed.has_value(); });
  EXPECT_EQ(confirmed->error().code, Code::kConflict);
}

TEST_F(Documents, ADeadLeaderIsSucceededAndRemoved) {
  Side side(*loop_, store_);
  create(side);
  edit(side, [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"dead"}}); });
  edit(side, [](const ring::Document& d) { return ring::lead(d, SessionId{"dead"}); });
  edit(side, [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"r2"}}); });
  std::optional<ring::Leader> leads;
  Leadership next(*loop_, side.access, side.writer,
                  {.session = SessionId{"r2"},
                   .lease = milliseconds{150},
                   .leads = [&](const SharedDocument& seen) { leads = seen->leader; },
                   .lost = [] {},
                   .log = [](const std::string&) {}});
  side.on_seen = [&](const SharedDocument& seen) { next.follow(seen); };
  next.start();
  next.joined();
  run_until(*loop_,
            [&] { return leads && !ring::has_router(*side.writer.newest(), SessionId{"dead"}); });
  EXPECT_EQ(leads->session, SessionId{"r2"});
  EXPECT_EQ(leads->term, Term{2});
}

TEST_F(Documents, ALivingLeaderIsLeftAlone) {
  Side side(*loop_, store_);
  create(side);
  edit(side, [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"r1"}}); });
  edit(side, [](const ring::Document& d) { return ring::lead(d, SessionId{"r1"}); });
  edit(side, [](const ring::Document& d) { return ring::join(d, {.session = SessionId{"r2"}}); });
  bool kept = false;
  side.access.keep_alive(SessionId{"r1"}, milliseconds{60'000}, [&](Result<void>) { kept = true; });
  run_until(*loop_, [&] { return kept; });
  Leadership next(*loop_, side.access, side.writer,
                  {.session = SessionId{"r2"},
                   .lease = milliseconds{60},
                   .leads = [](const SharedDocument&) { ADD_FAILURE() << "took the term"; },
                   .lost = [] {},
                   .log = [](const std::string&) {}});
  next.start();
  next.joined();
  const Instant end = loop_->now() + milliseconds{300};
  run_until(*loop_, [&] { return loop_->now() > end; });
  EXPECT_EQ(side.writer.newest()->leader.session, SessionId{"r1"});
}

}  // namespace
}  // namespace cleave::control
