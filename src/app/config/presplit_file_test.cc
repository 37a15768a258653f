#include "app/config/presplit_file.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

constexpr UnixMillis kNow{1'000'000};

// A good file; each case below breaks one line of it.
constexpr std::string_view kGoodEvents =
    "events:\n"
    "  - name: sale\n"
    "    start: 2026-11-27T08:00:00Z\n"
    "    for: 4h\n"
    "    lead: 2h\n"
    "    expect:\n"
    "      - {keys: [a, b], rate: 5000, bytes: 2048, command: get}\n"
    "      - {tags: [user], rate: 10}\n"
    "      - {ranges: [0x10-0x1f], load_ns: 77}\n";

std::string events_with(std::string_view from, std::string_view to) {
  std::string text(kGoodEvents);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(PresplitFile, BecomesTheBodyOfTheOrder) {
  const Result<Json> events = parse_presplit(kGoodEvents, "f.yaml", kNow);
  ASSERT_TRUE(events) << events.error().message;
  const Json expected = Json::parse(R"([{"name":"sale","start_ms":1795766400000,
      "end_ms":1795780800000,"lead_from_ms":1795759200000,"expect":[
      {"keys":["a","b"],"rate":5000,"bytes":2048,"command":"get"},{"tags":["user"],"rate":10},
      {"ranges":[{"first":"0000000000000010","last":"000000000000001f"}],"load_ns":77}]}])");
  EXPECT_EQ(*events, expected);
}

TEST(PresplitFile, TimesMayBeRelativeAndTheLeadLeftOut) {
  const Result<Json> events = parse_presplit(
      "events: [{name: a, start: +1m, end: +2m, expect: [{keys: [k], rate: 1}]}]", "f", kNow);
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ((*events)[0]["start_ms"], 1'060'000);
  EXPECT_EQ((*events)[0]["end_ms"], 1'120'000);
  EXPECT_FALSE((*events)[0].contains("lead_from_ms"));
}

TEST(PresplitFile, MistakesAreToldWithTheirPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"events: [\n", "f.yaml:2:1: not YAML"},
      {"events: []\n", "f.yaml:1:9: events: want a list"},
      {events_with("name: sale", "nome: sale"), "this key is missing; want a text"},
      {events_with("2026-11-27T08:00:00Z", "friday"),
       "f.yaml:3:12: events[0].start: want a time in UTC"},
      {events_with("for: 4h", "for: long"), "f.yaml:4:10: events[0].for: want a duration"},
      {events_with("for: 4h", "end: 2026-11-26T08:00:00Z"),
       "f.yaml:4:10: events[0].end: the event ends"},
      {events_with("    for: 4h\n", ""), "events[0].end: want either end"},
      {events_with("rate: 5000", "rate: 0x5"), "events[0].expect[0].rate: want a whole number"},
      {events_with("rate: 10", "load_ns: 1, rate: 10"),
       "want either rate (requests a second) or load_ns"},
      {events_with("tags: [user]", "prefix: user"),
       "f.yaml:8:18: events[0].expect[1].prefix: keys lie"},
      {events_with("tags: [user], ", ""), "want keys, tags or ranges"},
      {events_with("0x10-0x1f", "0x1f-0x10"), "the first token is after the last"},
      {events_with("bytes: 2048", "colour: red"), "events[0].expect[0].colour: unknown key"},
  };
  for (const auto& [text, says] : cases) {
    const Result<Json> events = parse_presplit(text, "f.yaml", kNow);
    ASSERT_FALSE(events) << text;
    EXPECT_EQ(events.error().code, Code::kInvalid);
    EXPECT_NE(events.error().message.find(says), std::string::npos)
        << events.error().message << "\nshould say: " << says;
  }
}

}  // namespace
}  // namespace cleave::app
