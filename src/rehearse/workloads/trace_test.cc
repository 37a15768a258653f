#include "rehearse/workloads/trace.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/rng.h"
#include "rehearse/workloads/trace_commands.h"
#include "rehearse/workloads/trace_workload.h"
#include "ring/vnode.h"

namespace cleave::rehearse {
namespace {

Trace parsed(const std::string& text, TraceFormat format, TraceLimits limits = {}) {
  std::istringstream in(text);
  return read_trace(in, format, limits);
}

Trace csv(const std::string& text) { return parsed(text, TraceFormat::kCsv); }
Trace monitor(const std::string& text) { return parsed(text, TraceFormat::kMonitor); }

TEST(TraceParser, ReadsCsvWithAndWithoutAHeader) {
  const std::string lines = "10.5,user:1,get,100\n11.000000001,user:2,SET,5\r\n11.75,user:1,read,";
  for (const std::string& header : {std::string(), std::string("time,key,op,bytes\n")}) {
    const Trace trace = csv(header + lines);
    EXPECT_EQ(trace.bad, 0U);
    ASSERT_EQ(trace.keys.size(), 2U);
    EXPECT_EQ(trace.keys[0],
              (TraceKey{.name = "user:1", .token = ring::vnode_token("user:1"), .bytes = 100}));
    ASSERT_EQ(trace.requests.size(), 3U);
    EXPECT_EQ(
        trace.requests[1],
        (TraceRequest{
            .at = nanoseconds{500'000'001}, .key = 1, .access = heat::Access::kWrite, .bytes = 5}));
    EXPECT_EQ(trace.requests[2].at, milliseconds{1'250});
    EXPECT_EQ(trace.requests[2].access, heat::Access::kRead);
  }
}

TEST(TraceParser, AQuotedKeyMayHoldCommasAndQuotes) {
  const Trace trace = csv("1,\"a,\"\"b\"\"\",get,1\n");
  ASSERT_EQ(trace.keys.size(), 1U);
  EXPECT_EQ(trace.keys[0].name, "a,\"b\"");
}

TEST(TraceParser, ReadsMonitor) {
  const Trace trace = monitor(
      "OK\n"
      "1339518083.107412 [0 127.0.0.1:60866] \"set\" \"x\" \"3\"\n"
      "+1339518084.107412 [15 [::1]:60866] \"GET\" \"a \\\"q\\\" \\\\ \\n\\xff]\"\n"
      "1339518084.5 [0 unix:/run/redis.sock] \"ping\"\n"
      "1339518084.6 [0 lua] \"incr\" \"x\"\n"
      "1339518085.000000 [0 127.0.0.1:1] \"eval\" \"return 1\" \"1\" \"k\" \"v\"\n");
  EXPECT_EQ(trace.bad, 0U);
  EXPECT_EQ(trace.keyless, 2U);
  ASSERT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(trace.keys[0].name, "x");
  EXPECT_EQ(trace.keys[1].name, "a \"q\" \\ \n\xff]");
  EXPECT_EQ(trace.keys[2].name, "k");
  EXPECT_EQ(trace.requests[1].at, seconds{1});
  EXPECT_EQ(trace.requests[0].bytes, 5U);
}

TEST(TraceParser, CountsAndNamesBadLines) {
  const Trace trace = csv("x,k,get,1\n1,k,get\n1,,get,1\n1,k,get,many\n1,\"k,get,1\n\n2,k,get,1\n");
  EXPECT_EQ(trace.bad, 5U);
  EXPECT_EQ(trace.requests.size(), 1U);
  ASSERT_EQ(trace.faults.size(), 5U);
  EXPECT_EQ(trace.faults[0], (TraceFault{1, "'x' is no time in seconds"}));
  EXPECT_EQ(trace.faults[4], (TraceFault{5, "a quote does not end"}));
  for (const char* line : {"1.0 \"get\" \"x\"", "1.0 [0 a] \"get\" \"x", "1.0 [0 a] \"get\" \"\\x0",
                           "1.0 [0 a] \"get\"\"x\"", "1.0 [0 a] \"get\" \"x\\", "] \"", " ] \""}) {
    EXPECT_EQ(monitor(line).bad, 1U) << line;
  }
}

TEST(TraceParser, MemoryIsBounded) {
  const std::string longest(300'000, 'x');
  const Trace lines = csv("1,a,get,1\n" + longest + "\n2,b,get,1\n" + longest);
  EXPECT_EQ(lines.bad, 2U);
  EXPECT_EQ(lines.requests.size(), 2U);
  EXPECT_EQ(lines.faults[0].line, 2U);
  const Trace few = parsed("1,a,get,1\n2,b,get,1\n3,a,get,1\n", TraceFormat::kCsv, {.keys = 1});
  EXPECT_TRUE(few.full);
  EXPECT_EQ(few.requests.size(), 2U);
  EXPECT_TRUE(parsed("1,a,get,1\n2,a,get,1\n", TraceFormat::kCsv, {.requests = 1}).full);
}

TEST(TraceParser, TimeNeverGoesBack) {
  const Trace trace = csv("5,a,get,1\n3,a,get,1\n99999999999999999999,a,get,1\n6,a,get,1\n");
  EXPECT_EQ(trace.bad, 1U);
  ASSERT_EQ(trace.requests.size(), 3U);
  EXPECT_EQ(trace.requests[1].at, nanoseconds{0});
  EXPECT_EQ(trace.requests[2].at, seconds{1});
}

TEST(TraceParser, SurvivesAnyBytes) {
  static constexpr std::string_view kLikely = "0123456789.,\"\\x[] gset\n\r";
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    std::string text;
    for (std::uint64_t left = rng.below(200); left > 0; --left) {
      text +=
          rng.chance(1, 8) ? static_cast<char>(rng.below(256)) : kLikely[rng.below(kLikely.size())];
    }
    for (const TraceFormat format : {TraceFormat::kCsv, TraceFormat::kMonitor}) {
      const Trace trace = parsed(text, format);
      EXPECT_LE(trace.bad + trace.requests.size(), trace.lines) << "seed " << seed;
    }
  }
}

TEST(TraceCommands, FindTheFirstKey) {
  const auto key = [](std::vector<std::string> arguments) { return trace_command(arguments).key; };
  EXPECT_EQ(key({"GET", "k"}), 1U);
  EXPECT_EQ(key({"get"}), 0U);
  EXPECT_EQ(key({"info"}), 0U);
  EXPECT_EQ(key({"object", "encoding", "k"}), 2U);
  EXPECT_EQ(key({"EVALSHA", "abc", "0", "v"}), 0U);
  EXPECT_EQ(key({"EVALSHA", "abc", "2", "k", "l"}), 3U);
  EXPECT_EQ(key({"xread", "COUNT", "1", "STREAMS", "s", "0"}), 4U);
  EXPECT_EQ(key({"xread", "COUNT", "1"}), 0U);
  EXPECT_EQ(key({"something.new", "k"}), 1U);
  EXPECT_EQ(key({}), 0U);
  EXPECT_EQ(trace_access("ZScore"), heat::Access::kRead);
  EXPECT_EQ(trace_access("zadd"), heat::Access::kWrite);
}

// One second asks for a three times and for b once, the next for b only.
constexpr std::string_view kTwoSeconds =
    "0,a,get,1\n0.1,a,get,1\n0.2,a,get,1\n0.3,b,set,1\n"
    "1.0,b,get,1\n1.5,b,get,1\n";

TEST(TraceWorkload, IsReplayedSecondBySecond) {
  auto workload = make_trace_workload(csv(std::string(kTwoSeconds)), {.nodes = equal_nodes(2)});
  ASSERT_TRUE(workload.has_value());
  Scene scene;
  EXPECT_TRUE((*workload)->set(seconds{0}, scene).loads);
  ASSERT_EQ(scene.keys.size(), 2U);
  EXPECT_TRUE(std::ranges::is_sorted(scene.keys, {}, &SceneKey::token));
  const auto weight = [&](std::string_view name) {
    return std::ranges::find(scene.keys, name, &SceneKey::name)->weight;
  };
  EXPECT_EQ(weight("a"), 3 * weight("b"));
  const std::uint64_t busy = scene.load;
  (*workload)->set(seconds{1}, scene);
  EXPECT_EQ(weight("a"), 0U);
  // Four and two requests; on average 0.4 of both nodes.
  EXPECT_EQ(busy, 2 * scene.load);
  EXPECT_NEAR(static_cast<double>(busy + scene.load) / 2, 0.4 * 2 * 1e9, 10);
  EXPECT_EQ(scene.read_ppm, 833'333U);
  (*workload)->set(seconds{2}, scene);
  EXPECT_EQ(scene.load, busy);
}

TEST(TraceWorkload, AveragedItRests) {
  auto workload = make_trace_workload(
      csv(std::string(kTwoSeconds)),
      {.time = TraceSetting::Time::kAveraged, .nodes = equal_nodes(2), .utilisation_ppm = 500'000});
  ASSERT_TRUE(workload.has_value());
  EXPECT_TRUE((*workload)->rests());
  Scene scene;
  (*workload)->set(seconds{0}, scene);
  EXPECT_EQ(scene.keys[0].weight, scene.keys[1].weight);
  EXPECT_EQ(scene.load, 1'000'000'000U);
  EXPECT_FALSE((*workload)->set(seconds{1}, scene).loads);
}

TEST(TraceWorkload, WithoutARequestThereIsNone) {
  const auto nothing = make_trace_workload(csv("what?\n"), {.nodes = equal_nodes(2)});
  EXPECT_EQ(nothing.error().code, Code::kInvalid);
  EXPECT_NE(nothing.error().message.find("line 1"), std::string::npos);
  EXPECT_EQ(make_trace_workload(csv("1,a,get,1"), {}).error().code, Code::kInvalid);
}

}  // namespace
}  // namespace cleave::rehearse
