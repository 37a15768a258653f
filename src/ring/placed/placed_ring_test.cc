#include "ring/placed/placed_ring.h"

#include <gtest/gtest.h>

#include "ring/placed/placed_ring_testing.h"
#include "ring/schemes/key_batches.h"
#include "ring/width.h"

namespace cleave::ring {
namespace {

using testing::made;
using testing::random_spec;

constexpr std::uint64_t kSeeds = 1'000;

// By reading the cuts one by one.
std::string naive_owner(const RingSpec& spec, const Placement& placement, Token token) {
  for (const NamedCut& cut : spec.cuts) {
    if (cut.range.contains(token)) return cut.node;
  }
  return spec.nodes[placement.owner(token)].name;
}

// Tokens at and beside every boundary, and some others.
std::vector<Token> tokens_of_interest(const RingSpec& spec, Rng& rng) {
  std::vector<Token> tokens = {kFirstToken, kLastToken};
  for (const NamedCut& cut : spec.cuts) {
    for (const Token end : {cut.range.first, cut.range.last}) {
      tokens.insert(tokens.end(), {Token{end.value() - 1}, end, Token{end.value() + 1}});
    }
  }
  for (int i = 0; i < 20; ++i) tokens.push_back(Token{rng.next()});
  return tokens;
}

RingSpec simple_spec() {
  return {.scheme = {.name = "vnode"}, .nodes = {{.name = "a"}, {.name = "b"}, {.name = "c"}}};
}

std::string complaint(const RingSpec& spec) {
  const auto ring = PlacedRing::make(spec);
  return ring ? "" : ring.error().message;
}

TEST(PlacedRing, TellsWhatANaiveSearchTells) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const RingSpec spec = random_spec(rng, 12);
    const PlacedRing ring = made(spec);
    for (const Token token : tokens_of_interest(spec, rng)) {
      ASSERT_EQ(ring.nodes()[ring.owner(token)].name, naive_owner(spec, ring.placement(), token));
    }
    const std::string key = "key:" + std::to_string(seed);
    const auto token = ring.token_of(key);
    ASSERT_TRUE(token);
    ASSERT_EQ(ring.owner(key), ring.owner(*token));
  }
}

// Batches of every size around that of a batch, in rings with and without cuts, small ones and one
// that is fetched from memory.
TEST(PlacedRing, ManyKeysLieWhereEachOfThemLies) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    RingSpec spec = random_spec(rng, 12);
    if (seed == 0) spec.scheme = {.name = "murmur64a-vnode", .options = {{"points", "100000"}}};
    const PlacedRing ring = made(spec);
    std::vector<std::string> keys;
    for (std::uint64_t i = rng.below(3 * kKeyBatch); i > 0; --i) {
      keys.emplace_back(rng.below(80), static_cast<char>(rng.next()));
    }
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    std::vector<std::size_t> owners(keys.size());
    ring.owners(views, owners);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      ASSERT_EQ(owners[i], ring.owner(views[i]).value_or(kNoNode)) << "key " << i;
    }
  }
}

TEST(PlacedRing, EveryTokenHasOneArcOfItsOwner) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const PlacedRing ring = made(random_spec(rng, 12));
    std::uint64_t next = 0;
    NodeId previous;
    for (const Arc& arc : ring.arcs()) {
      ASSERT_EQ(arc.range.first.value(), next);
      ASSERT_LE(arc.range.first, arc.range.last);
      ASSERT_NE(arc.node, previous);
      for (const Token end : {arc.range.first, arc.range.last}) {
        ASSERT_EQ(ring.owner(end), arc.node.value() - 1);
      }
      previous = arc.node;
      next = arc.range.last.value() + 1;
    }
    ASSERT_EQ(ring.arcs().back().range.last, kLastToken);
  }
}

TEST(PlacedRing, ANewCutLiesOverTheOldOnes) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const RingSpec spec = random_spec(rng, 8);
    const PlacedRing ring = made(spec);
    const Token first{rng.next() >> rng.below(3)};
    const NamedCut cut{{first, Token{first.value() | (rng.next() >> rng.below(60))}},
                       spec.nodes[rng.below(spec.nodes.size())].name};
    const auto cut_ring = ring.with_cut(cut);
    ASSERT_TRUE(cut_ring);
    std::vector<Token> tokens = tokens_of_interest(cut_ring->spec(), rng);
    for (const Token token : tokens) {
      const std::string& want =
          cut.range.contains(token) ? cut.node : ring.nodes()[ring.owner(token)].name;
      ASSERT_EQ(cut_ring->nodes()[cut_ring->owner(token)].name, want);
    }
    const PlacedRing bare = cut_ring->without_cuts();
    ASSERT_TRUE(bare.cuts().empty());
    for (const Token token : tokens) {
      ASSERT_EQ(bare.owner(token), ring.placement().owner(token));
    }
  }
}

// A cut holds whatever happens to the nodes; only its own node takes it away.
TEST(PlacedRing, CutsStayAsNodesComeAndGo) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const RingSpec spec = random_spec(rng, 6);
    const auto grown = made(spec).with_node({.name = "joiner", .weight = 2});
    ASSERT_TRUE(grown);
    EXPECT_EQ(grown->nodes().back().name, "joiner");
    const auto heavier = grown->with_weight("joiner", 3);
    ASSERT_TRUE(heavier);
    EXPECT_EQ(heavier->nodes().back().weight, 3U);
    EXPECT_EQ(heavier->spec().cuts, spec.cuts);
    const std::string gone = spec.nodes.front().name;
    const auto shrunk = heavier->without_node(gone);
    ASSERT_TRUE(shrunk);
    std::vector<NamedCut> kept = spec.cuts;
    std::erase_if(kept, [&](const NamedCut& cut) { return cut.node == gone; });
    EXPECT_EQ(shrunk->spec().cuts, kept);
    const auto back = heavier->without_node("joiner");
    ASSERT_TRUE(back);
    for (const Token token : tokens_of_interest(spec, rng)) {
      ASSERT_EQ(back->owner(token), made(spec).owner(token));
    }
  }
}

TEST(PlacedRing, DiffTellsWhatASearchTells) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const RingSpec spec = random_spec(rng, 6);
    RingSpec other = random_spec(rng, 6);
    other.scheme = spec.scheme;
    std::ranges::reverse(other.nodes);
    const PlacedRing before = made(spec);
    const PlacedRing after = made(other);
    const auto result = diff(before, after);
    ASSERT_TRUE(result) << result.error().message;
    std::vector<Token> tokens = tokens_of_interest(spec, rng);
    std::ranges::copy(tokens_of_interest(other, rng), std::back_inserter(tokens));
    for (const Token token : tokens) {
      const std::string& from = before.nodes()[before.owner(token)].name;
      const std::string& to = after.nodes()[after.owner(token)].name;
      const auto change = std::ranges::find_if(
          result->changes, [&](const Change& each) { return each.range.contains(token); });
      ASSERT_EQ(change != result->changes.end(), from != to);
      if (change == result->changes.end()) continue;
      ASSERT_EQ(result->names[change->from.value() - 1], from);
      ASSERT_EQ(result->names[change->to.value() - 1], to);
    }
  }
}

TEST(PlacedRing, DiffNeedsOneMapFromKeysToTokens) {
  RingSpec one = simple_spec();
  one.scheme = {.name = "libmemcached-ketama", .options = {{"hash", "md5"}}};
  RingSpec other = one;
  other.scheme.options["hash"] = "crc";
  EXPECT_FALSE(diff(made(one), made(other)));
  other.scheme = {.name = "vnode"};
  EXPECT_FALSE(diff(made(one), made(other)));
  one.scheme = {.name = "modulo"};
  EXPECT_FALSE(diff(made(one), made(one)));
  // Points are the nodes' business: a key has the same token.
  one.scheme = {.name = "murmur64a-vnode", .options = {{"points", "10"}}};
  other.scheme = {.name = "murmur64a-vnode", .options = {{"points", "20"}}};
  const auto result = diff(made(one), made(other));
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->changes.empty());
  one.scheme = {.name = "cassandra", .options = {{"tokens", "a=0;b=100;c=200"}}};
  other.scheme = {.name = "cassandra", .options = {{"tokens", "a=0;b=99;c=200"}}};
  const auto moved = diff(made(one), made(other));
  ASSERT_TRUE(moved);
  ASSERT_EQ(moved->changes.size(), 1U);
  EXPECT_EQ(moved->changes[0].range, (TokenRange{Token{(std::uint64_t{1} << 63U) + 100},
                                                 Token{(std::uint64_t{1} << 63U) + 100}}));
}

// A node that joins and leaves by its name alone, because its tokens are told beforehand.
TEST(PlacedRing, TokensOfANodeMayBeToldBeforeItJoins) {
  const PlacedRing two =
      made({.scheme = {.name = "cassandra", .options = {{"tokens", "a=0;b=100;c=50"}}},
            .nodes = {{.name = "a"}, {.name = "b"}}});
  const Token of_b{(std::uint64_t{1} << 63U) + 40};
  EXPECT_EQ(two.owner(of_b), 1U);
  const auto three = two.with_node({.name = "c"});
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_EQ(three->owner(of_b), 2U);
  EXPECT_EQ(three->without_node("c")->owner(of_b), 1U);
  EXPECT_EQ(two.with_node({.name = "d"}).error().message,
            "scheme cassandra: option tokens: node 'd' has no token");
}

TEST(PlacedRing, BadInputIsAClearError) {
  RingSpec spec = simple_spec();
  spec.cuts = {{{Token{5}, Token{4}}, "a"}};
  EXPECT_NE(complaint(spec).find("first token must not be above its last"), std::string::npos);
  spec.cuts = {{{Token{5}, Token{9}}, "z"}};
  EXPECT_EQ(complaint(spec), "a cut: no node is named 'z'");
  spec.cuts = {{{Token{5}, Token{9}}, "a"}, {{Token{9}, Token{12}}, "b"}};
  EXPECT_EQ(complaint(spec), "two cuts hold token 0000000000000009; cuts are disjoint");
  spec = simple_spec();
  spec.nodes[1].rack = "r\n";
  EXPECT_EQ(complaint(spec),
            "node 1: rack: want at most 255 bytes of UTF-8 without control characters");
  spec.nodes[1] = {.name = "\xFF"};
  EXPECT_NE(complaint(spec), "");
  spec.nodes[1] = {.name = std::string(256, 'n')};
  EXPECT_NE(complaint(spec), "");
  spec.nodes[1] = {.name = "a"};
  EXPECT_EQ(complaint(spec), "two nodes are named 'a'");
  spec.nodes.clear();
  EXPECT_EQ(complaint(spec), "no nodes: at least one is needed");
}

// A table of slots of that many bytes, which gives all to `a`: the rest is the name of a node that
// is not there.
SchemeSpec codis_slots(std::size_t bytes) {
  std::string slots = "a=0-1023;";
  slots += std::string(bytes - slots.size() - 1, 'x') + "=";
  return {.name = "codis", .options = {{"slots", slots}}};
}

TEST(PlacedRing, OptionsMayBeAsLongAsInAPool) {
  RingSpec spec = simple_spec();
  spec.scheme = codis_slots(kOptionBytesMax);
  EXPECT_EQ(made(spec).owner("key"), 0U);
  spec.scheme = codis_slots(kOptionBytesMax + 1);
  EXPECT_EQ(complaint(spec), "option slots: want at most 1048576 bytes of UTF-8");
  spec.scheme.options["slots"] = "a=0-1023;\xFF=";
  EXPECT_EQ(complaint(spec), "option slots: want at most 1048576 bytes of UTF-8");
}

TEST(PlacedRing, RefusesChangesThatCannotBe) {
  const PlacedRing ring = made(simple_spec());
  EXPECT_EQ(ring.without_node("z").error().code, Code::kNotFound);
  EXPECT_EQ(ring.with_weight("z", 2).error().code, Code::kNotFound);
  EXPECT_EQ(ring.with_weight("a", 0).error().code, Code::kInvalid);
  EXPECT_EQ(ring.with_node({.name = "a"}).error().code, Code::kInvalid);
  EXPECT_EQ(ring.with_cut({{Token{1}, Token{2}}, "z"}).error().code, Code::kNotFound);
  EXPECT_EQ(ring.with_cut({{Token{2}, Token{1}}, "a"}).error().code, Code::kInvalid);
  const auto alone = made({.scheme = {.name = "vnode"}, .nodes = {{.name = "a"}}});
  EXPECT_EQ(alone.without_node("a").error().code, Code::kInvalid);
}

TEST(PlacedRing, CutsNeedTokensThatStay) {
  for (const std::string name : {"modulo", "jump", "go-redis", "twemproxy-modula"}) {
    RingSpec spec = simple_spec();
    spec.scheme.name = name;
    const auto cut = made(spec).with_cut({{Token{1}, Token{2}}, "a"});
    ASSERT_FALSE(cut);
    EXPECT_EQ(cut.error().message,
              "scheme " + name +
                  " has no cuts: its tokens depend on the nodes, so a range of tokens would be "
                  "other keys after each change of them");
    spec.cuts = {{{Token{1}, Token{2}}, "a"}};
    EXPECT_EQ(complaint(spec), cut.error().message);
  }
}

TEST(PlacedRing, MoreCutsThanTheLimitAreRefused) {
  RingSpec spec = simple_spec();
  for (std::uint64_t i = 0; i <= kLaidCutsMax; ++i) {
    spec.cuts.push_back({{Token{2 * i}, Token{2 * i}}, "a"});
  }
  const auto over = PlacedRing::make(spec);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, Code::kExhausted);
  spec.cuts.pop_back();
  const PlacedRing full = made(spec);
  EXPECT_EQ(full.with_cut({{kLastToken, kLastToken}, "a"}).error().code, Code::kExhausted);
}

}  // namespace
}  // namespace cleave::ring
