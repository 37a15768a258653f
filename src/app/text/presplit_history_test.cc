#include "app/text/presplit_history.h"

#include <gtest/gtest.h>

#include "app/times.h"

namespace cleave::app {
namespace {

Replay evening() {
  Replay replay{.day = *parse_date("2026-11-20")};
  EXPECT_TRUE(read_hours("20-22", replay));
  return replay;
}

Json strip(const char* first, const char* last, std::uint64_t load) {
  return {{"first", first}, {"last", last}, {"load_ns", load}};
}

Json recorded() {
  return {{"points", Json::array({{{"strips", {strip("00", "0f", 100), strip("10", "1f", 500)}}},
                                  {{"strips", {strip("00", "0f", 300)}}}})}};
}

TEST(PresplitHistory, ExpectsTheMostOfEachStripScaled) {
  Replay replay = evening();
  replay.scale_ppm = *parse_scale("1.5");
  const auto events = events_of(recorded(), replay, *parse_time("2026-11-27T08:00:00Z", {}));
  ASSERT_TRUE(events) << events.error().message;
  const Json& event = (*events)[0];
  EXPECT_EQ(event["name"], "replay-2026-11-20-20h");
  EXPECT_EQ(event["start_ms"], parse_time("2026-11-27T20:00:00Z", {})->value());
  EXPECT_EQ(event["end_ms"], parse_time("2026-11-27T22:00:00Z", {})->value());
  EXPECT_EQ(event["lead_from_ms"], parse_time("2026-11-27T19:00:00Z", {})->value());
  ASSERT_EQ(event["expect"].size(), 2U);
  EXPECT_EQ(event["expect"][0]["load_ns"], 450);
  EXPECT_EQ(event["expect"][1]["load_ns"], 750);
  EXPECT_EQ(event["expect"][1]["ranges"][0]["last"], "1f");
}

TEST(PresplitHistory, HoursThatAreOverTodayComeTomorrow) {
  const auto start = [](const char* now) {
    return UnixMillis{(*events_of(recorded(), evening(), *parse_time(now, {})))[0]["start_ms"]};
  };
  EXPECT_EQ(to_text(start("2026-11-27T21:59:59Z")), "2026-11-27 20:00:00Z");
  EXPECT_EQ(to_text(start("2026-11-27T22:00:00Z")), "2026-11-28 20:00:00Z");
}

TEST(PresplitHistory, NothingRecordedIsAnError) {
  const auto events = events_of({{"points", Json::array()}}, evening(), UnixMillis{0});
  ASSERT_FALSE(events);
  EXPECT_EQ(events.error().code, Code::kNotFound);
  EXPECT_NE(events.error().message.find("2026-11-20 20:00:00Z"), std::string::npos);
}

TEST(PresplitHistory, HoursAndScalesAreReadStrictly) {
  Replay replay;
  for (const char* wrong : {"", "20", "20-", "-22", "22-20", "20-20", "20-25", "a-b", "1-2-3"}) {
    EXPECT_FALSE(read_hours(wrong, replay)) << wrong;
  }
  EXPECT_TRUE(read_hours("0-24", replay));
  EXPECT_EQ(parse_scale("1"), 1'000'000U);
  EXPECT_EQ(parse_scale("0.01"), 10'000U);
  EXPECT_EQ(parse_scale("2.25"), 2'250'000U);
  for (const char* wrong : {"", ".", "0", "0.001", "101", "-1", "1.", "x", "1.5x", "1.0000001"}) {
    EXPECT_FALSE(parse_scale(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace cleave::app
