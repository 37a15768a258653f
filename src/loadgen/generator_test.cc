#include "loadgen/generator.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loadgen/client.h"
#include "loadgen/world_testing.h"

namespace cleave::loadgen {
namespace {

class GeneratorTest : public testing::Test {
 protected:
  GeneratorTest() {
    options_.addresses = {{.host = "fake", .port = 1}};
    options_.clients = 8;
    options_.keys = {.count = 500, .zipf_thousandths = 1'000};
    options_.counter_share = options_.erasable_share = options_.expiring_share = 200;
    options_.duration = seconds{3};
    options_.settle_timeout = seconds{5};
    options_.on_phase = [this](Phase phase) { phases_.push_back(phase); };
  }

  Report run() {
    Report result;
    bool done = false;
    generator_ = std::make_unique<Generator>(loop_, options_);
    generator_->start([&](const Report& report) {
      result = report;
      done = true;
    });
    loop_.run(done);
    EXPECT_TRUE(done);
    return result;
  }

  FakeLoop loop_;
  FakeServer server_{loop_};
  Generator::Options options_;
  std::vector<Phase> phases_;
  std::unique_ptr<Generator> generator_;
};

TEST_F(GeneratorTest, GoesThroughItsPhasesAndJudgesEverything) {
  const Report report = run();
  EXPECT_EQ(phases_, (std::vector<Phase>{Phase::kFilling, Phase::kRunning, Phase::kDraining,
                                         Phase::kSweeping, Phase::kDone}));
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.filled, 500U);
  EXPECT_EQ(report.swept, 500U);
  EXPECT_EQ(report.errors, 0U);
  // 8 clients, a reply a millisecond.
  EXPECT_NEAR(static_cast<double>(report.operations), 24'000.0, 300.0);
  EXPECT_NEAR(static_cast<double>(report.operations_per_second), 8'000.0, 100.0);
  EXPECT_EQ(report.p50_us, 1'000U);
  EXPECT_EQ(report.max_us, 1'000U);
  EXPECT_GT(report.findings.writes_acked, 8'000U);
  EXPECT_EQ(report.findings.reads + report.findings.writes_acked,
            report.operations + report.filled + report.swept);
  ASSERT_GE(report.seconds.size(), 2U);
  EXPECT_NEAR(static_cast<double>(report.seconds[1].operations), 8'000.0, 100.0);
}

TEST_F(GeneratorTest, RepeatsItself) {
  options_.duration = seconds{1};
  run();
  FakeLoop loop;
  FakeServer server(loop);
  Generator again(loop, options_);
  bool done = false;
  again.start([&](const Report&) { done = true; });
  loop.run(done);
  EXPECT_EQ(server.log, server_.log);
}

TEST_F(GeneratorTest, DrawsKeysByTheirShares) {
  options_.fill = false;
  options_.verify = false;
  run();
  std::uint64_t requests = 0;
  for (const auto& [name, count] : server_.requests_by_key) requests += count;
  const std::vector<std::uint64_t> shares = generator_->shares();
  for (const std::uint32_t key : {0U, 1U, 2U, 10U}) {
    const double want = static_cast<double>(shares[key]) / std::pow(2.0, 64.0);
    const double got = static_cast<double>(server_.requests_by_key[generator_->keys().name(key)]) /
                       static_cast<double>(requests);
    EXPECT_NEAR(got / want, 1.0, 0.12) << key;
  }
}

TEST_F(GeneratorTest, ShiftsWhatIsHot) {
  options_.fill = false;
  options_.verify = false;
  options_.shift_period = seconds{1};
  options_.keys.zipf_thousandths = 2'000;
  run();
  for (const std::uint32_t key : {0U, 126U, 252U}) {
    EXPECT_GT(server_.requests_by_key[generator_->keys().name(key)], 3'000U) << key;
  }
}

TEST_F(GeneratorTest, KeepsTheRate) {
  options_.requests_per_second = 1'000;
  const Report report = run();
  EXPECT_NEAR(static_cast<double>(report.operations), 3'000.0, 30.0);
  for (std::size_t i = 1; i < report.seconds.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(report.seconds[i].operations), 1'000.0, 20.0);
  }
  EXPECT_TRUE(report.clean());
}

TEST_F(GeneratorTest, DoesNotCatchUpWithALongStall) {
  options_.requests_per_second = 1'000;
  loop_.after(milliseconds{1'500}, [&] { server_.latency = milliseconds{1'000}; });
  loop_.after(milliseconds{1'510}, [&] { server_.latency = milliseconds{1}; });
  const Report report = run();
  std::uint64_t most = 0;
  for (const Second& second : report.seconds) most = std::max(most, second.operations);
  EXPECT_LE(most, 1'150U);
}

TEST_F(GeneratorTest, GoesOnWhenConnectionsBreak) {
  options_.pipeline = 4;
  for (int i = 1; i < 20; ++i) {
    loop_.after(milliseconds{150 * i}, [&] { server_.break_connections(); });
  }
  const Report report = run();
  EXPECT_TRUE(report.clean());
  EXPECT_GT(report.connections_lost, 100U);
  EXPECT_GT(report.findings.writes_unknown, 100U);
  EXPECT_GT(report.operations, 10'000U);
  EXPECT_EQ(report.errors_by_text.at("broken"), report.connections_lost);
  EXPECT_EQ(report.swept, 500U);
}

TEST_F(GeneratorTest, GoesOverToAnotherAddressAndLosesNothing) {
  options_.pipeline = 4;
  std::uint64_t before = 0;
  loop_.after(milliseconds{1'500}, [&] {
    generator_->move_to({{.host = "fake", .port = 2}});
    EXPECT_FALSE(generator_->has_moved());
  });
  loop_.after(milliseconds{1'600}, [&] {
    EXPECT_TRUE(generator_->has_moved());
    before = server_.sends_by_port[1];
  });
  const Report report = run();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.errors, 0U);
  EXPECT_EQ(report.connections_lost, 0U);
  EXPECT_EQ(report.findings.writes_unknown, 0U);
  EXPECT_GT(before, 1'000U);
  EXPECT_EQ(server_.sends_by_port[1], before);
  EXPECT_GT(server_.sends_by_port[2], 1'000U);
}

// One that cannot connect has nobody to leave: it tries the new address.
TEST_F(GeneratorTest, GoesOverFromAnAddressThatIsGone) {
  loop_.after(milliseconds{1'000}, [&] {
    server_.refuses = true;
    server_.break_connections();
  });
  loop_.after(milliseconds{1'200}, [&] { generator_->move_to({{.host = "fake", .port = 2}}); });
  loop_.after(milliseconds{1'400}, [&] { server_.refuses = false; });
  const Report report = run();
  EXPECT_TRUE(report.clean());
  EXPECT_TRUE(generator_->has_moved());
  EXPECT_GT(server_.sends_by_port[2], 1'000U);
}

TEST_F(GeneratorTest, GivesUpAConnectionThatIsSilent) {
  options_.reply_timeout = milliseconds{300};
  loop_.after(milliseconds{1'000}, [&] { server_.silent = true; });
  loop_.after(milliseconds{2'000}, [&] { server_.silent = false; });
  const Report report = run();
  EXPECT_TRUE(report.clean());
  EXPECT_GE(report.connections_lost, 16U);
  EXPECT_EQ(report.errors_by_text.at("no reply within 300 ms"), report.connections_lost);
  EXPECT_GT(report.operations, 10'000U);
}

TEST_F(GeneratorTest, CatchesAServerThatForgets) {
  loop_.after(milliseconds{1'500}, [&] { server_.forgets_one_in = 50; });
  const Report report = run();
  EXPECT_FALSE(report.clean());
  EXPECT_GT(report.findings.writes_lost, 10U);
  EXPECT_GT(report.findings.reads_wrong, 10U);
  EXPECT_FALSE(report.findings.examples.empty());
}

TEST_F(GeneratorTest, SaysWhatItCouldNotCheck) {
  options_.on_phase = [&](Phase phase) {
    if (phase != Phase::kSweeping) return;
    server_.refuses = true;
    server_.break_connections();
  };
  const Report report = run();
  EXPECT_EQ(report.unchecked + report.swept, 500U);
  EXPECT_GT(report.unchecked, 400U);
  EXPECT_FALSE(report.clean());
  EXPECT_EQ(report.findings.reads_wrong, 0U);
}

TEST_F(GeneratorTest, CanBeStoppedAndStillSweeps) {
  options_.duration = milliseconds{0};
  loop_.after(milliseconds{1'000}, [&] { generator_->stop(); });
  const Report report = run();
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.swept, 500U);
  EXPECT_GT(report.operations, 1'000U);
  EXPECT_LT(report.elapsed, seconds{1});
}

TEST(ReadReply, TellsWhatTheVerifierNeeds) {
  using What = Seen::What;
  EXPECT_EQ(read_reply("+OK\r\n").what, What::kOk);
  EXPECT_EQ(read_reply("-ERR no\r\n").what, What::kUnknown);
  EXPECT_EQ(read_reply("-ERR no\r\n").text, "ERR no");
  EXPECT_EQ(read_reply(":-7\r\n").integer, -7);
  EXPECT_EQ(read_reply("$-1\r\n").what, What::kAbsent);
  EXPECT_EQ(read_reply("$5\r\na\r\nbc\r\n").text, "a\r\nbc");
  EXPECT_EQ(read_reply("*1\r\n:1\r\n").what, What::kUnknown);
}

}  // namespace
}  // namespace cleave::loadgen
