#include "ring/hash_tag.h"

#include <gtest/gtest.h>

namespace cleave::ring {
namespace {

struct Case {
  std::string_view key;
  std::string_view hashed;
};

// The corner cases on which clients have disagreed with the servers.
constexpr Case kCases[] = {
    {"", ""},
    {"plain", "plain"},
    {"{user1000}.following", "user1000"},
    {"{user1000}.followers", "user1000"},
    {"foo{bar}{zap}", "bar"},
    {"{}x{y}", "{}x{y}"},  // an empty first tag ends the search
    {"{}{bar}", "{}{bar}"},
    {"foo{}{bar}", "foo{}{bar}"},
    {"{abc", "{abc"},  // never closed
    {"a}b{c}", "c"},   // a closing brace before the first opening one means nothing
    {"{{a}}", "{a"},   // the first '}' closes, whatever lies between
    {"foo{{bar}}zap", "{bar"},
    {"}{", "}{"},
    {"{", "{"},
    {"}", "}"},
    {"{}", "{}"},
    {"x{y}", "y"},
    {std::string_view("{\0}x", 4), std::string_view("\0", 1)},
    {"{\r\n}x", "\r\n"},
};

TEST(HashTag, FollowsTheClusterRule) {
  for (const Case& each : kCases) EXPECT_EQ(hash_tag(each.key), each.hashed) << each.key;
}

}  // namespace
}  // namespace cleave::ring
