#include "ring/schemes/peers/token_owners.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/rng.h"
#include "ring/schemes/hashes/murmur.h"
#include "ring/schemes/vectors_testing.h"

namespace cleave::ring {
namespace {

using Nodes = std::vector<PlacedNode>;
using TokenOwners = std::map<std::int64_t, std::size_t>;  // signed, as Cassandra orders them

SchemeSpec cassandra(const std::string& tokens) {
  return {.name = "cassandra", .options = {{"tokens", tokens}}};
}

std::shared_ptr<const Placement> placed(const std::string& tokens, const Nodes& nodes) {
  auto placement = place(cassandra(tokens), nodes);
  EXPECT_TRUE(placement) << placement.error().message;
  return placement ? *placement : nullptr;
}

std::string refusal_of(const std::string& tokens, const Nodes& nodes = {{"a"}, {"b"}}) {
  const auto placement = place(cassandra(tokens), nodes);
  return placement ? "accepted" : placement.error().message;
}

// By the definition: the first token at or above the key's, else the smallest of all.
std::size_t naive_owner(const TokenOwners& owners, std::string_view key) {
  auto token = static_cast<std::int64_t>(cassandra_murmur3(key).first);
  if (token == INT64_MIN) token = INT64_MAX;
  for (const auto& [point, owner] : owners) {
    if (point >= token) return owner;
  }
  return owners.begin()->second;
}

// Mostly anywhere; else where a comparison can go wrong: the ends, zero, at and beside a key's.
std::int64_t any_token(Rng& rng, const std::vector<std::string>& keys) {
  const auto& key = keys[rng.below(keys.size())];
  const auto near = static_cast<std::uint64_t>(cassandra_murmur3(key).first);
  switch (rng.below(12)) {
    case 0: return INT64_MIN;
    case 1: return INT64_MAX;
    case 2: return static_cast<std::int64_t>(rng.below(3)) - 1;
    case 3: return static_cast<std::int64_t>(near);
    case 4: return static_cast<std::int64_t>(near - 1);
    case 5: return static_cast<std::int64_t>(near + 1);
    default: return static_cast<std::int64_t>(rng.next());
  }
}

// One token each at least, the others with whom they may be; in a random order.
TokenOwners any_owners(Rng& rng, std::size_t nodes, const std::vector<std::string>& keys) {
  TokenOwners owners;
  std::size_t next = 0;
  const std::size_t count = nodes * (1 + rng.below(8));
  while (owners.size() < count) {
    const std::size_t owner = next < nodes ? next : rng.below(nodes);
    if (owners.emplace(any_token(rng, keys), owner).second) ++next;
  }
  return owners;
}

std::string text_of(const TokenOwners& owners, const Nodes& nodes, Rng& rng) {
  std::vector<std::vector<std::string>> tokens(nodes.size());
  for (const auto& [token, owner] : owners) {
    std::vector<std::string>& mine = tokens[owner];
    mine.insert(mine.begin() + static_cast<std::ptrdiff_t>(rng.below(mine.size() + 1)),
                std::to_string(token));
  }
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    text += (i == 0 ? "" : ";") + nodes[i].name + "=";
    for (std::size_t at = 0; at < tokens[i].size(); ++at)
      text += (at == 0 ? "" : ",") + tokens[i][at];
  }
  return text;
}

std::vector<std::string> any_keys(Rng& rng) {
  std::vector<std::string> keys = {"\xC3\xA9t\xC3\xA9"};  // signed bytes in the hash
  for (int i = 0; i < 20; ++i) keys.push_back("key:" + std::to_string(rng.below(1'000'000)));
  return keys;
}

Nodes any_nodes(Rng& rng) {
  Nodes nodes(1 + rng.below(6));
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].name = "10.0.0." + std::to_string(i);
  return nodes;
}

TEST(TokenOwners, AreThoseOfANaiveSearch) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Nodes nodes = any_nodes(rng);
    const std::vector<std::string> keys = any_keys(rng);
    const TokenOwners owners = any_owners(rng, nodes.size(), keys);
    const auto placement = placed(text_of(owners, nodes, rng), nodes);
    ASSERT_TRUE(placement);
    EXPECT_TRUE(placement->fixed_tokens());
    for (const std::string& key : keys) {
      ASSERT_EQ(placement->owner(key), naive_owner(owners, key)) << key;
    }
  }
}

// As after `nodetool decommission`: its ranges go to the next tokens' nodes, nothing else moves.
TEST(TokenOwners, OfANodeThatLeftAreNobodys) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    Nodes nodes = any_nodes(rng);
    nodes.push_back({"another"});
    const std::vector<std::string> keys = any_keys(rng);
    TokenOwners owners = any_owners(rng, nodes.size(), keys);
    const std::string text = text_of(owners, nodes, rng);
    const std::size_t gone = rng.below(nodes.size());
    std::erase_if(owners, [&](const auto& each) { return each.second == gone; });
    nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(gone));
    const auto placement = placed(text, nodes);
    ASSERT_TRUE(placement);
    for (const std::string& key : keys) {
      const std::size_t owner = naive_owner(owners, key);
      ASSERT_EQ(placement->owner(key), owner - (owner > gone ? 1 : 0)) << key;
    }
  }
}

// Long.MIN_VALUE is what many generators of tokens begin with; its node owns what lies past the
// last token, and the key without a token.
TEST(TokenOwners, TheSmallestTokenEndsTheRangeThatWraps) {
  const auto placement =
      placed("a=-9223372036854775808;b=0;c=9223372036854775806", {{"a"}, {"b"}, {"c"}});
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->owner(kFirstToken), 0U);
  EXPECT_EQ(placement->owner(Token{1}), 1U);
  EXPECT_EQ(placement->owner(Token{unsigned_order(0)}), 1U);
  EXPECT_EQ(placement->owner(Token{unsigned_order(1)}), 2U);
  EXPECT_EQ(placement->owner(Token{kLastToken.value() - 1}), 2U);
  EXPECT_EQ(placement->owner(kLastToken), 0U);
  EXPECT_EQ(placement->owner(""), 0U);
}

TEST(TokenOwners, RefuseWhatIsWrong) {
  EXPECT_EQ(refusal_of("a=1;b=2,1"),
            "scheme cassandra: option tokens: '1': this token is given to 'a' and to 'b'");
  EXPECT_EQ(refusal_of("a=-7,-7;b=2"),
            "scheme cassandra: option tokens: '-7': this token is given to 'a' and to 'a'");
  EXPECT_EQ(refusal_of("gone=5;a=5;b=2"),
            "scheme cassandra: option tokens: '5': this token is given to 'gone' and to 'a'");
  EXPECT_EQ(refusal_of("a=1;a=2"),
            "scheme cassandra: option tokens: 'a': this node is there twice");
  EXPECT_EQ(refusal_of("a=1;c=2"), "scheme cassandra: option tokens: node 'b' has no token");
  EXPECT_EQ(refusal_of(""), "scheme cassandra: option tokens: node 'a' has no token");
  EXPECT_EQ(refusal_of("a=1;b="), "scheme cassandra: option tokens: node 'b' has no token");
  EXPECT_EQ(refusal_of("a=1;b=2", {{"a", 1}, {"b", 2}}),
            "scheme cassandra: node 'b' has weight 2, but the peer has none");
  for (const std::string token : {"9223372036854775808", "-9223372036854775809", "x", "1-2", "+1",
                                  " 1", "1 ", "0x1", "", "-", "1.0"}) {
    EXPECT_EQ(refusal_of("a=3," + token + ",4;b=5"),
              "scheme cassandra: option tokens: '" + token +
                  "': want tokens from -9223372036854775808 to 9223372036854775807");
  }
  for (const std::string text : {"a", "=1", ";a=1", "a=1;;b=2", "1,2"}) {
    EXPECT_NE(refusal_of(text).find("want NODE=TOKEN"), std::string::npos) << text;
  }
}

TEST(TokenOwners, AMessageShowsOnlyTheBeginningOfALongValue) {
  EXPECT_EQ(refusal_of(std::string(5'000, '7')), "scheme cassandra: option tokens: '" +
                                                     std::string(64, '7') +
                                                     "...': want NODE=TOKEN,TOKEN;NODE=...");
}

// The owner is the first of the walk of SimpleStrategy.
TEST(TokenOwners, AreThoseOfCassandra) {
  const auto file = testing::read_vectors("cassandra_network_topology.json");
  std::size_t compared = 0;
  for (const auto& cluster : file["clusters"]) {
    if (!cluster.contains("simple")) continue;
    Nodes nodes;
    TokenOwners owners;
    for (const auto& node : cluster["nodes"]) {
      for (const auto& token : node["tokens"]) owners[token.get<std::int64_t>()] = nodes.size();
      nodes.push_back({std::to_string(nodes.size())});
    }
    Rng rng(compared);
    const auto placement = placed(text_of(owners, nodes, rng), nodes);
    ASSERT_TRUE(placement);
    const auto walks = testing::split(cluster["replicas"], ' ');
    ASSERT_EQ(walks.size(), owners.size());
    auto walk = walks.begin();
    for (const auto& [token, owner] : owners) {
      const Token ours{unsigned_order(static_cast<std::uint64_t>(token))};
      ASSERT_EQ("0123456789abcdefghijklmnopqrstuvwxyz"[placement->owner(ours)], walk -> front());
      ++walk;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 796U);
}

}  // namespace
}  // namespace cleave::ring
