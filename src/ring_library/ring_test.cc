// The C++ interface, as far as it adds something to the core's (ring/placed/placed_ring_test.cc).
#include <gtest/gtest.h>

#include <cleave/ring.hpp>
#include <numeric>
#include <thread>
#include <utility>

namespace cleave {
namespace {

const std::vector<Ring::Node> kThreeNodes = {{"a"}, {"b", 2, "r1", "d1"}, {"c"}};

Ring vnode() { return Ring("vnode", kThreeNodes); }

RingError::Code code_of(const std::function<void()>& attempt) {
  try {
    attempt();
  } catch (const RingError& error) {
    EXPECT_STRNE(error.what(), "");
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Ring, GivesBackWhatItIsMadeOf) {
  const Ring ring("twemproxy-ketama", kThreeNodes, {{"hash", "fnv1a_64"}});
  EXPECT_EQ(ring.scheme(), "twemproxy-ketama");
  EXPECT_EQ(ring.options(), (Ring::Options{{"hash", "fnv1a_64"}}));
  ASSERT_EQ(ring.nodes().size(), 3U);
  EXPECT_EQ(ring.nodes()[1].name, "b");
  EXPECT_EQ(ring.nodes()[1].weight, 2U);
  EXPECT_EQ(ring.nodes()[1].rack, "r1");
  EXPECT_EQ(ring.nodes()[1].datacenter, "d1");
  EXPECT_EQ(ring.find("c"), 2U);
  EXPECT_EQ(ring.find("z"), std::nullopt);
}

TEST(Ring, ABatchTellsWhatSingleLookUpsTell) {
  const Ring ring("nginx", kThreeNodes, {{"method", "consistent"}});
  std::vector<std::string> texts = {""};
  for (int i = 0; i < 1'000; ++i) texts.push_back("key:" + std::to_string(i));
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  std::vector<std::size_t> owners(keys.size());
  ring.locate(keys.data(), keys.size(), owners.data());
  EXPECT_EQ(owners[0], Ring::kNowhere);  // nginx spreads the empty key round robin
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(owners[i], ring.locate(keys[i]).value_or(Ring::kNowhere));
    const auto token = ring.token_of(keys[i]);
    ASSERT_EQ(token.has_value(), i != 0);
    if (token) {
      EXPECT_EQ(owners[i], ring.owner(*token));
    }
  }
}

TEST(Ring, SharesAreThoseOfTheArcs) {
  const Ring ring = vnode().with_cut({0, ~std::uint64_t{0} / 2, "a"});
  const std::vector<double> shares = ring.shares();
  EXPECT_DOUBLE_EQ(std::accumulate(shares.begin(), shares.end(), 0.0), 1.0);
  EXPECT_GE(shares[0], 0.5);
  std::vector<double> summed(3);
  for (const Ring::Arc& arc : ring.arcs()) {
    summed[arc.node] += (static_cast<double>(arc.last - arc.first) + 1) / 0x1p64;
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(summed[i], shares[i], 1e-12);
  const Ring alone("vnode", {{"a"}});
  EXPECT_EQ(alone.shares(), std::vector<double>{1.0});
}

TEST(Ring, DiffTellsNamesAndShares) {
  const Ring before("vnode", {{"a"}});
  const Ring after = before.with_node({"b"}).with_cut({0, 0xFFFFFFFFFFFFFFFF, "b"});
  const auto changes = Ring::diff(before, after);
  ASSERT_EQ(changes.size(), 1U);
  EXPECT_EQ(changes[0].from, "a");
  EXPECT_EQ(changes[0].to, "b");
  EXPECT_EQ(changes[0].share, 1.0);
  EXPECT_TRUE(Ring::diff(after, after).empty());
}

TEST(Ring, IsAValue) {
  Ring one = vnode();
  const Ring same = one;
  EXPECT_EQ(one, same);
  Ring moved = std::move(one);  // NOLINT(performance-move-const-arg): as callers may write
  // NOLINTNEXTLINE(bugprone-use-after-move): promised
  EXPECT_EQ(one, moved);
  const Ring cut = moved.with_cut({1, 5, "a"});
  EXPECT_NE(cut, moved);
  EXPECT_EQ(cut.cuts().size(), 1U);
  EXPECT_EQ(cut.without_cuts(), moved);
  EXPECT_EQ(Ring::from_text(cut.to_text()), cut);
  EXPECT_NE(moved, Ring("vnode", {{"a"}, {"b", 3, "r1", "d1"}, {"c"}}));
  EXPECT_NE(moved, Ring("murmur64a-vnode", kThreeNodes));
  moved = cut;
  EXPECT_EQ(moved, cut);
}

TEST(Ring, WhatCannotBeIsAnExceptionWithACode) {
  using Code = RingError::Code;
  EXPECT_EQ(code_of([] { Ring("kettle", kThreeNodes); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", kThreeNodes, {{"x", "y"}}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", {}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", {{"a"}, {"a"}}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", {{"a", 0}}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", {{"a", 1'000'001}}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", {{"\xC3"}}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring("vnode", {{"a", 1'000'000}}); }), Code::kLimit);
  EXPECT_EQ(code_of([] { Ring("modulo", kThreeNodes).with_cut({1, 2, "a"}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { vnode().with_cut({2, 1, "a"}); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { vnode().with_cut({1, 2, "z"}); }), Code::kNotFound);
  EXPECT_EQ(code_of([] { vnode().without_node("z"); }), Code::kNotFound);
  EXPECT_EQ(code_of([] { vnode().with_weight("z", 1); }), Code::kNotFound);
  EXPECT_EQ(code_of([] { Ring::diff(vnode(), Ring("nginx", kThreeNodes)); }), Code::kInvalid);
  EXPECT_EQ(code_of([] { Ring::from_text("{"); }), Code::kInvalid);
}

TEST(Ring, EverySchemeIsThereByName) {
  for (const std::string& scheme : Ring::schemes()) {
    EXPECT_EQ(Ring(scheme, {{"a"}, {"b"}}).scheme(), scheme);
  }
  EXPECT_GE(Ring::schemes().size(), 22U);
}

TEST(Ring, ManyThreadsMayUseOneAtOnce) {
  const Ring ring = vnode().with_cut({0, 1'000, "a"});
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([ring] {
      for (int i = 0; i < 2'000; ++i) {
        const std::string key = std::to_string(i);
        EXPECT_EQ(ring.locate(key), ring.owner(*ring.token_of(key)));
        const Ring copy = ring;  // NOLINT(performance-unnecessary-copy-initialization): tried
        EXPECT_EQ(copy.nodes().size(), 3U);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace cleave
