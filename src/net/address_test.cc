#include <gtest/gtest.h>

#include "net/loop.h"

namespace cleave::net {
namespace {

TEST(ParseAddress, TakesNamesAndNumbers) {
  struct Case {
    std::string text;
    Address want;
  };
  const std::vector<Case> cases = {
      {"127.0.0.1:6379", {"127.0.0.1", 6379}},
      {"cache-1.example_x.org:0", {"cache-1.example_x.org", 0}},
      {"localhost:65535", {"localhost", 65535}},
      {"[::1]:6379", {"::1", 6379}},
      {"[fe80::1%eth0]:1", {"fe80::1%eth0", 1}},
  };
  for (const Case& one : cases) {
    const Result<Address> got = parse_address(one.text);
    ASSERT_TRUE(got) << one.text << ": " << got.error().message;
    EXPECT_EQ(*got, one.want) << one.text;
    EXPECT_EQ(to_string(*got), one.text);
  }
}

TEST(ParseAddress, RefusesAndNamesTheText) {
  for (const std::string text : {"", ":", "host", "host:", ":6379", "host:65536", "host:-1",
                                 "host:+1", "host: 1", "host:1 ", "host:0x1", "::1:6379", "[::1]",
                                 "[::1]6379", "[]:1", "ho st:1", "host\r\n:1", "[::1:6379"}) {
    const Result<Address> got = parse_address(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, Code::kInvalid);
    EXPECT_NE(got.error().message.find("'" + text + "'"), std::string::npos) << got.error().message;
  }
}

}  // namespace
}  // namespace cleave::net
