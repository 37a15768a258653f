#include "net/url.h"

#include <gtest/gtest.h>

namespace cleave::net {
namespace {

TEST(ParseUrl, TakesSchemeAddressAndPathApart) {
  const auto parsed = [](std::string_view text) {
    Result<Url> url = parse_url(text);
    EXPECT_TRUE(url) << text << ": " << url.error().message;
    return url.value_or(Url{});
  };
  EXPECT_EQ(parsed("http://a:81/b?c=d"),
            (Url{.tls = false, .address = {.host = "a", .port = 81}, .target = "/b?c=d"}));
  EXPECT_EQ(parsed("http://a"), (Url{.tls = false, .address = {.host = "a", .port = 80}}));
  EXPECT_EQ(parsed("https://[::1]/"), (Url{.tls = true, .address = {.host = "::1", .port = 443}}));
  EXPECT_EQ(parsed("https://[::1]:2379"),
            (Url{.tls = true, .address = {.host = "::1", .port = 2379}}));
}

TEST(ParseUrl, RefusesWhatIsNoUrl) {
  for (const std::string_view text : {"", "a:80", "ftp://a", "HTTP://a", "http://", "http://a:",
                                      "http://a:99999", "http://a b/", "http://[::1", "http://:80"})
    EXPECT_FALSE(parse_url(text)) << text;
  EXPECT_FALSE(parse_url("http://a", Port::kRequired));
  EXPECT_FALSE(parse_url("http://[::1]/", Port::kRequired));
  EXPECT_TRUE(parse_url("http://a:1", Port::kRequired));
}

TEST(ParseTarget, DecodesPathAndQuery) {
  const auto target = parse_target("/a%20b/c?from=1&to=%2F%3d&flag&plus=a+b&&#rest");
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->path, "/a b/c");
  const std::map<std::string, std::string> want = {
      {"from", "1"}, {"to", "/="}, {"flag", ""}, {"plus", "a b"}};
  EXPECT_EQ(target->query, want);
}

TEST(ParseTarget, RefusesWhatIsNotAPath) {
  for (const std::string text :
       {"", "*", "http://a/b", "/%", "/%2", "/%zz", "/?a=%", "/?a=1&a=2"}) {
    const auto target = parse_target(text);
    ASSERT_FALSE(target) << text;
    EXPECT_EQ(target.error().code, Code::kInvalid);
    EXPECT_NE(target.error().message.find("'" + text + "'"), std::string::npos);
  }
}

TEST(EncodeComponent, IsWhatTheTargetDecodes) {
  EXPECT_EQ(encode_component("aZ9-_.~"), "aZ9-_.~");
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte) bytes += static_cast<char>(byte);
  const auto target = parse_target("/" + encode_component(bytes) + "?q=" + encode_component(bytes));
  ASSERT_TRUE(target) << target.error().message;
  EXPECT_EQ(target->path, "/" + bytes);
  EXPECT_EQ(target->query.at("q"), bytes);
}

}  // namespace
}  // namespace cleave::net
