#include "app/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace cleave::app {
namespace {

TEST(Log, NoByteOfALineReachesTheTerminalRaw) {
  const LogLine line{.text = "unsplittable \x1b[2J\n\xff is hot"};
  EXPECT_EQ(log_body(line, LogFormat::kText), "unsplittable \\x1b[2J\\x0a\\xff is hot");
}

TEST(Log, JsonNamesTheEventAndTheNode) {
  const LogLine line{.level = LogLevel::kWarning,
                     .event = "node-down",
                     .node = "a",
                     .text = "node a is \"down\"\n"};
  const std::string body = log_body(line, LogFormat::kJson);
  const auto parsed = nlohmann::json::parse("{" + body + "}");
  EXPECT_EQ(parsed["event"], "node-down");
  EXPECT_EQ(parsed["node"], "a");
  EXPECT_EQ(parsed["text"], "node a is \"down\"\\x0a");
  const auto plain = nlohmann::json::parse("{" + log_body({.text = "x"}, LogFormat::kJson) + "}");
  EXPECT_EQ(plain["event"], "note");
  EXPECT_FALSE(plain.contains("node"));
}

}  // namespace
}  // namespace cleave::app
