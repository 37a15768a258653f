#include "peer/messages.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::peer {
namespace {

std::string random_bytes(Rng& rng) {
  std::string bytes(rng.below(20), '\0');
  for (char& byte : bytes) byte = static_cast<char>(rng.below(256));
  return bytes;
}

// Small ones, large ones, and those at which encodings change their width.
std::uint64_t random_number(Rng& rng) { return rng.next() >> rng.below(64); }

DirtyBatch random_batch(Rng& rng) {
  DirtyBatch batch{.number = random_number(rng), .keys = {}, .whole_range = rng.chance(1, 3)};
  for (std::uint64_t i = rng.below(4); i > 0; --i)
    batch.elements.push_back({.key = random_bytes(rng), .elements = {random_bytes(rng), ""}});
  for (std::uint64_t i = rng.below(40); i > 0; --i) batch.keys.push_back(random_bytes(rng));
  return batch;
}

heat::Report random_report(Rng& rng) {
  heat::Report report{.recorder = random_number(rng),
                      .sequence = random_number(rng),
                      .epoch = Epoch{random_number(rng)},
                      .covers = nanoseconds{static_cast<std::int64_t>(rng.next() >> 1U)},
                      .thinning = 1 + static_cast<std::uint32_t>(rng.below(1'000))};
  for (std::uint64_t i = rng.below(5); i > 0; --i) {
    const std::uint64_t first = random_number(rng);
    const Token last{first + rng.below(UINT64_MAX - first)};
    report.sums.push_back({.range = {Token{first}, last},
                           .node = NodeId{static_cast<std::uint32_t>(rng.below(UINT32_MAX))},
                           .requests = random_number(rng),
                           .writes = random_number(rng),
                           .weight_ns = random_number(rng)});
    report.samples.push_back({.token = Token{random_number(rng)},
                              .weight_ns = static_cast<std::uint32_t>(rng.below(UINT32_MAX))});
    report.hot_keys.push_back({.key = random_bytes(rng),
                               .token = Token{random_number(rng)},
                               .node = NodeId{7},
                               .weight_ns = random_number(rng),
                               .error_ns = random_number(rng)});
    report.scripts.push_back({.bucket = static_cast<std::uint16_t>(rng.below(4'096)),
                              .age_s = static_cast<std::uint32_t>(rng.below(600'000))});
  }
  return report;
}

void expect_equal(const heat::Report& left, const heat::Report& right) {
  EXPECT_EQ(left.recorder, right.recorder);
  EXPECT_EQ(left.sequence, right.sequence);
  EXPECT_EQ(left.epoch, right.epoch);
  EXPECT_EQ(left.covers, right.covers);
  EXPECT_EQ(left.thinning, right.thinning);
  EXPECT_EQ(left.sums, right.sums);
  EXPECT_EQ(left.samples, right.samples);
  EXPECT_EQ(left.hot_keys, right.hot_keys);
  EXPECT_EQ(left.scripts, right.scripts);
}

TEST(PeerMessages, RoundTrip) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Question question{.to = SessionId{"s" + std::to_string(seed)},
                            .move = MoveId{random_number(rng)},
                            .phase_epoch = Epoch{random_number(rng)},
                            .number = random_number(rng),
                            .prices = {{"get", 9'000}, {"zadd", UINT32_MAX}, {"set", 0}},
                            .watch = {random_bytes(rng), ""}};
    ASSERT_EQ(read_question(write_question(question)), question);

    const DirtyBatch batch = random_batch(rng);
    const auto same = read_batch(write_batch(batch));
    ASSERT_TRUE(same) << same.error().message;
    EXPECT_EQ(same->number, batch.number);
    EXPECT_EQ(same->keys, batch.keys);
    EXPECT_EQ(same->whole_range, batch.whole_range);
    EXPECT_EQ(same->elements, batch.elements);

    FencedAck ack{.last = random_batch(rng), .incarnations = {}};
    ack.incarnations[NodeId{3}] = {{.run_id = "r1", .replication_id = "p1"},
                                   {.run_id = "r2", .replication_id = "p1"}};
    ack.incarnations[NodeId{4}] = {};
    const auto acked = read_fenced(write_fenced(ack));
    ASSERT_TRUE(acked) << acked.error().message;
    EXPECT_EQ(acked->last.keys, ack.last.keys);
    EXPECT_EQ(acked->incarnations, ack.incarnations);

    const std::vector<heat::Report> reports = {random_report(rng), random_report(rng)};
    const auto told = read_reports(write_reports(reports));
    ASSERT_TRUE(told) << told.error().message;
    ASSERT_EQ(told->size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) expect_equal((*told)[i], reports[i]);
  }
}

// MessagePack, as older versions write it: no elements, nothing to watch.
TEST(PeerMessages, AnOlderVersionKnowsKeysOnly) {
  const auto batch =
      read_batch(std::string("\x83\xa6number\x01\xa4keys\x91\xc4\x01k"
                             "\xabwhole_range\xc2"));
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_EQ(batch->keys, std::vector<std::string>{"k"});
  EXPECT_TRUE(batch->elements.empty());
  const auto question = read_question(
      std::string("\x85\xa2to\xa1s\xa4move\x01\xabphase_epoch\x02\xa6number\x03\xa6prices\x80"));
  ASSERT_TRUE(question) << question.error().message;
  EXPECT_TRUE(question->watch.empty());
}

TEST(PeerMessages, ErrorsKeepTheirCode) {
  for (const Code code : {Code::kInvalid, Code::kNotFound, Code::kConflict, Code::kTimeout,
                          Code::kUnavailable, Code::kExhausted}) {
    const Error error{code, "why \xFF"};
    EXPECT_EQ(read_error(write_error(error)), error);
  }
  EXPECT_EQ(read_error("nonsense").code, Code::kInvalid);
}

// A router is trusted with the token, not with its bytes: whatever they are, an error at worst.
TEST(PeerMessages, BrokenBytesAreAnErrorAndNeverMore) {
  Rng rng(1);
  const std::vector<std::string> whole = {
      write_question({.to = SessionId{"s"}, .move = MoveId{1}}), write_batch(random_batch(rng)),
      write_fenced({.last = random_batch(rng), .incarnations = {{NodeId{1}, {{"a", "b"}}}}}),
      write_reports({random_report(rng), random_report(rng)})};
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = whole[rng.below(whole.size())];
    for (std::uint64_t n = 1 + rng.below(3); n > 0; --n) {
      if (rng.chance(1, 4)) bytes.resize(rng.below(bytes.size() + 1));
      if (!bytes.empty()) bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    std::ignore = read_question(bytes);
    std::ignore = read_batch(bytes);
    std::ignore = read_fenced(bytes);
    const auto reports = read_reports(bytes);
    if (!reports) continue;
    for (const heat::Report& report : *reports) {
      EXPECT_GT(report.thinning, 0U);
      for (const heat::RangeSum& sum : report.sums) EXPECT_LE(sum.range.first, sum.range.last);
    }
  }
  for (const std::string& bytes : whole) {
    if (bytes == whole[1]) continue;
    EXPECT_FALSE(read_batch(bytes)) << "another message's fields";
  }
}

}  // namespace
}  // namespace cleave::peer
