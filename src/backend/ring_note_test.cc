#include "backend/ring_note.h"

#include <gtest/gtest.h>

#include <optional>

#include "backend/redis_store.h"
#include "backend/redis_testing.h"

namespace cleave::backend {
namespace {

RingNote a_note() {
  return {.pool = "main",
          .ring = "5f0c",
          .node = "node one",
          .server = "77ab",
          .epoch = Epoch{42},
          .adopted = UnixMillis{1'700'000'000'000},
          .written = UnixMillis{1'700'000'000'001}};
}

TEST(RingNoteText, IsReadBackAsItWasWritten) {
  EXPECT_EQ(parse_ring_note(to_text(a_note())), a_note());
}

TEST(RingNoteText, OfAnotherKindIsNoNoteAndUnknownLinesArePassedOver) {
  EXPECT_EQ(parse_ring_note(""), RingNote{});
  EXPECT_EQ(parse_ring_note("nothing of ours"), RingNote{});
  EXPECT_EQ(parse_ring_note("epoch x\nepoch\n"), RingNote{});
  EXPECT_EQ(parse_ring_note("colour blue\n" + to_text(a_note()) + "size 3"), a_note());
}

TEST(RingNoteText, AServersIdIsAShortWord) {
  EXPECT_EQ(parse_ring_note("server 77ab\n").server, "77ab");
  for (const std::string& odd : {std::string("\xff\x01"), std::string("a b"), std::string(65, 'a')})
    EXPECT_EQ(parse_ring_note("server " + odd + "\n").server, "") << odd;
}

class NoteAtAServer : public testing::Test {
 protected:
  RingNote write(RingNote note) {
    std::optional<Result<RingNote>> written;
    store_.write_note(std::move(note), [&](Result<RingNote> done) { written = std::move(done); });
    run_until(*loop_, [&] { return written.has_value(); });
    EXPECT_TRUE(written->has_value()) << written->error().message;
    return written->value_or(RingNote{});
  }
  StoreFacts facts() {
    std::optional<Result<StoreFacts>> seen;
    store_.facts([&](Result<StoreFacts> facts) { seen = std::move(facts); });
    run_until(*loop_, [&] { return seen.has_value(); });
    return **seen;
  }

  std::unique_ptr<net::AsioLoop> loop_ = net::make_loop();
  OpenGate gate_{*loop_};
  RedisServer server_;
  RawClient client_{server_.port()};
  RedisStore store_{
      *loop_, gate_, Rng{1},
      Pipe::Options{
          .address = server_.address(), .credentials = {}, .limits = {}, .on_state = [](bool) {}}};
};

TEST_F(NoteAtAServer, IsSeenWithTheFactsAndIsNoKeyOfAClient) {
  EXPECT_EQ(facts().identity.note, RingNote{});
  EXPECT_EQ(write(a_note()), a_note());
  client_.ask({"SET", "cleave:{owner}", "5f0c"});
  client_.ask({"SET", "x", "1"});
  EXPECT_EQ(facts().identity.note, a_note());
  EXPECT_EQ(facts().keys, 1);
}

TEST_F(NoteAtAServer, KeepsTheServersIdWhateverElseChanges) {
  write(a_note());
  RingNote other = a_note();
  other.pool = "renamed";
  other.server = "99ff";
  other.epoch = Epoch{43};
  const RingNote written = write(other);
  EXPECT_EQ(written.server, "77ab");
  EXPECT_EQ(facts().identity.note, written);
  EXPECT_EQ(written.pool, "renamed");
  EXPECT_EQ(written.epoch, Epoch{43});
}

TEST_F(NoteAtAServer, ThatMayNotBeReadStopsNothing) {
  client_.ask({"ACL", "SETUSER", "default", "resetkeys", "~cleave:{owner}"});
  EXPECT_EQ(facts().identity.note, RingNote{});
}

}  // namespace
}  // namespace cleave::backend
