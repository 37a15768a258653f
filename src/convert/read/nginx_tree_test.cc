#include "convert/read/nginx_tree.h"

#include <gtest/gtest.h>

namespace cleave::convert {
namespace {

std::string to_text(const std::vector<NginxDirective>& directives) {
  std::string text;
  for (const NginxDirective& each : directives) {
    text += std::to_string(each.line);
    for (const std::string& word : each.words) text += "|" + word;
    text += each.block.empty() ? ";" : "{" + to_text(each.block) + "}";
  }
  return text;
}

std::string parsed(std::string_view text) {
  const auto directives = parse_nginx(text, "f");
  return directives ? to_text(*directives) : directives.error().message;
}

TEST(ParseNginx, ReadsWordsQuotesCommentsAndBlocks) {
  struct Case {
    std::string_view text;
    std::string_view want;
  };
  const std::vector<Case> cases = {
      {"", ""},
      {"a b;", "1|a|b;"},
      {"# c { ; \"\na # d\n b;", "2|a|b;"},
      {"a b#c;", "1|a|b#c;"},
      {"a{b;c d;}e;", "1|a{1|b;1|c|d;}1|e;"},
      {"a 'b; {#' \"c \\\" d\";", "1|a|b; {#|c \" d;"},
      {"a ${b}c{d;}", "1|a|${b}c{1|d;}"},
      {"a \\;b \\t;", "1|a|\\;b|\t;"},
      {"a {\n}\nb;", "1|a;3|b;"},
      {"access_by_lua_block { local t = {a=\"it's\"} } b;", "1|access_by_lua_block;1|b;"}};
  for (const Case& one : cases) EXPECT_EQ(parsed(one.text), one.want) << one.text;
}

TEST(ParseNginx, RefusesWhatIsNotComplete) {
  for (const std::string_view text : {"a", "a {", "a; }", "a { b }", "a 'b", ";", "{ a; }"}) {
    const auto directives = parse_nginx(text, "f");
    ASSERT_FALSE(directives) << text;
    EXPECT_EQ(directives.error().code, Code::kInvalid);
    EXPECT_TRUE(directives.error().message.starts_with("f:1: ")) << directives.error().message;
  }
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "a{";
  EXPECT_FALSE(parse_nginx(deep, "f"));
}

}  // namespace
}  // namespace cleave::convert
