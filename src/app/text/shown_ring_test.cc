#include "app/text/shown_ring.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

const Json kStatus = Json::parse(R"({
    "pool": "main", "scheme": "jedis", "scheme_options": {"named": "true"}, "nodes": [
    {"id": 1, "name": "a", "weight": 1, "state": "active", "members": [{"address": "h:1"}]},
    {"id": 5, "name": "b", "weight": 3, "state": "active", "members": [{"address": "h:2"}]},
    {"id": 9, "name": "c", "weight": 9, "state": "draining", "members": [{"address": "h:3"}]}]})");

const Json kRing = Json::parse(R"({
    "entries": [
    {"first": "0000000000000000", "last": "3fffffffffffffff", "node": "c"},
    {"first": "4000000000000000", "last": "5fffffffffffffff", "node": "a"},
    {"first": "6000000000000000", "last": "7fffffffffffffff", "node": "a"},
    {"first": "8000000000000000", "last": "ffffffffffffffff", "node": "b"}]})");

TEST(ShownRing, IsTheRouters) {
  const auto shown = shown_ring(kStatus, kRing);
  ASSERT_TRUE(shown) << shown.error().message;
  EXPECT_EQ(scheme_text(shown->spec), "jedis, named=true");
  ASSERT_EQ(shown->shares.size(), 3U);
  EXPECT_EQ(shown->arcs.size(), 3U);  // the two of a are one
  EXPECT_EQ(shown->shares[0].owned, ring::kAllTokens / 4);
  EXPECT_EQ(shown->shares[0].wanted, ring::kAllTokens / 4);
  EXPECT_EQ(shown->shares[0].arcs, 1U);
  EXPECT_EQ(shown->shares[1].load_ppm(), 666'666U);
  EXPECT_EQ(shown->shares[2].wanted, 0U);  // it shall leave
  EXPECT_EQ(shown->shares[2].load_ppm(), 0U);
}

TEST(ShownRing, RefusesWhatDoesNotFit) {
  const auto code = [](const Json& status, const Json& ring) {
    const auto shown = shown_ring(status, ring);
    return shown ? std::optional<Code>() : shown.error().code;
  };
  Json joined = kRing;
  joined["entries"][0]["node"] = "d";
  EXPECT_EQ(code(kStatus, joined), Code::kConflict);
  Json gap = kRing;
  gap["entries"].erase(1);
  EXPECT_EQ(code(kStatus, gap), Code::kInvalid);
  Json open = kRing;
  open["entries"].erase(3);
  EXPECT_EQ(code(kStatus, open), Code::kInvalid);
  EXPECT_EQ(code(kStatus, Json::object()), Code::kInvalid);
  EXPECT_EQ(code(Json::object(), kRing), Code::kUnavailable);
}

}  // namespace
}  // namespace cleave::app
