// The C interface: the same answers as the C++ one, and a status for everything that cannot be.
#include <cleave/cleave_ring.h>
#include <gtest/gtest.h>

#include <cleave/ring.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "ring_library/c_support.h"

namespace {

using Handle = std::unique_ptr<cleave_ring, decltype(&cleave_ring_free)>;

constexpr cleave_ring_node kNodes[] = {{"a", 1, nullptr, nullptr}, {"b", 2, "r1", "d1"}};

Handle owned(cleave_ring* ring) { return {ring, cleave_ring_free}; }

Handle made(const char* scheme) {
  cleave_ring* ring = nullptr;
  cleave_ring_error error;
  EXPECT_EQ(cleave_ring_create(scheme, nullptr, 0, kNodes, 2, &ring, &error), CLEAVE_RING_OK);
  return owned(ring);
}

std::string text_of(const cleave_ring* ring) {
  std::string text;
  std::size_t size = 0;
  EXPECT_EQ(cleave_ring_to_text(ring, nullptr, 0, &size), CLEAVE_RING_BUFFER_TOO_SMALL);
  text.resize(size + 1);
  EXPECT_EQ(cleave_ring_to_text(ring, text.data(), text.size(), &size), CLEAVE_RING_OK);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  return text;
}

TEST(CRing, TellsWhatTheCxxInterfaceTells) {
  const Handle handle = made("vnode");
  const cleave::Ring ring("vnode", {{"a"}, {"b", 2, "r1", "d1"}});
  EXPECT_EQ(text_of(handle.get()), ring.to_text());
  std::vector<std::string> keys = {"", std::string("\xFF\0\n", 3)};
  for (int i = 0; i < 500; ++i) keys.push_back("key:" + std::to_string(i));
  std::vector<const char*> starts;
  std::vector<std::size_t> sizes;
  for (const std::string& key : keys) {
    starts.push_back(key.data());
    sizes.push_back(key.size());
    std::size_t node = 99;
    ASSERT_EQ(cleave_ring_locate(handle.get(), key.data(), key.size(), &node), CLEAVE_RING_OK);
    ASSERT_EQ(node, ring.locate(key));
    std::uint64_t token = 0;
    ASSERT_EQ(cleave_ring_token_of(handle.get(), key.data(), key.size(), &token), CLEAVE_RING_OK);
    ASSERT_EQ(token, ring.token_of(key));
    ASSERT_EQ(cleave_ring_owner(handle.get(), token, &node), CLEAVE_RING_OK);
    ASSERT_EQ(node, ring.locate(key));
  }
  std::vector<std::size_t> owners(keys.size());
  ASSERT_EQ(cleave_ring_locate_many(handle.get(), starts.data(), sizes.data(), keys.size(),
                                    owners.data()),
            CLEAVE_RING_OK);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(owners[i], ring.locate(keys[i]));
}

// As a Codis cluster whose slots have moved one by one for years: far above what a name may have.
TEST(CRing, TakesAScatteredTableOfSlots) {
  std::string slots = "a=0";
  for (int slot = 2; slot < 1'024; slot += 2) slots += "," + std::to_string(slot);
  slots += ";b=1";
  for (int slot = 3; slot < 1'024; slot += 2) slots += "," + std::to_string(slot);
  const cleave_ring_option option{"slots", slots.c_str()};
  cleave_ring* made = nullptr;
  cleave_ring_error error;
  ASSERT_EQ(cleave_ring_create("codis", &option, 1, kNodes, 2, &made, &error), CLEAVE_RING_OK)
      << error.message;
  const Handle ring = owned(made);
  for (std::uint64_t slot = 0; slot < 1'024; ++slot) {
    std::size_t node = 99;
    ASSERT_EQ(cleave_ring_owner(ring.get(), slot << 54U, &node), CLEAVE_RING_OK);
    ASSERT_EQ(node, slot % 2);
  }
  const std::string text = text_of(ring.get());
  ASSERT_EQ(cleave_ring_from_text(text.data(), text.size(), &made, &error), CLEAVE_RING_OK);
  EXPECT_EQ(text_of(owned(made).get()), text);
}

TEST(CRing, ListsGoIntoTheCallersBuffer) {
  const Handle ring = made("vnode");
  std::size_t count = 0;
  EXPECT_EQ(cleave_ring_arcs(ring.get(), nullptr, 0, &count), CLEAVE_RING_BUFFER_TOO_SMALL);
  ASSERT_GT(count, 100U);
  std::vector<cleave_ring_arc> arcs(count, {7, 7, 7});
  EXPECT_EQ(cleave_ring_arcs(ring.get(), arcs.data(), count - 1, &count),
            CLEAVE_RING_BUFFER_TOO_SMALL);
  EXPECT_EQ(arcs[0].first, 7U);  // nothing was written
  EXPECT_EQ(cleave_ring_arcs(ring.get(), arcs.data(), count, &count), CLEAVE_RING_OK);
  EXPECT_EQ(arcs.front().first, 0U);
  EXPECT_EQ(arcs.back().last, std::numeric_limits<std::uint64_t>::max());
  double shares[2] = {};
  EXPECT_EQ(cleave_ring_shares(ring.get(), shares, 2, &count), CLEAVE_RING_OK);
  EXPECT_DOUBLE_EQ(shares[0] + shares[1], 1.0);
  EXPECT_EQ(cleave_ring_cuts(ring.get(), nullptr, 0, &count), CLEAVE_RING_OK);
  EXPECT_EQ(count, 0U);
}

TEST(CRing, ChangesGiveNewRings) {
  const Handle ring = made("vnode");
  const cleave_ring_node joiner = {"c", 1, "", nullptr};
  cleave_ring* raw = nullptr;
  ASSERT_EQ(cleave_ring_with_node(ring.get(), &joiner, &raw, nullptr), CLEAVE_RING_OK);
  const Handle grown = owned(raw);
  EXPECT_EQ(cleave_ring_node_count(ring.get()), 2U);
  EXPECT_EQ(cleave_ring_node_count(grown.get()), 3U);
  const cleave_ring_arc cut = {5, 9, 2};
  ASSERT_EQ(cleave_ring_with_cut(grown.get(), &cut, &raw, nullptr), CLEAVE_RING_OK);
  const Handle laid = owned(raw);
  cleave_ring_arc seen = {};
  std::size_t count = 0;
  ASSERT_EQ(cleave_ring_cuts(laid.get(), &seen, 1, &count), CLEAVE_RING_OK);
  EXPECT_EQ(seen.first, 5U);
  EXPECT_EQ(seen.last, 9U);
  EXPECT_EQ(seen.node, 2U);
  ASSERT_EQ(cleave_ring_without_cuts(laid.get(), &raw, nullptr), CLEAVE_RING_OK);
  const Handle bare = owned(raw);
  EXPECT_EQ(text_of(bare.get()), text_of(grown.get()));
  ASSERT_EQ(cleave_ring_without_node(bare.get(), "c", &raw, nullptr), CLEAVE_RING_OK);
  const Handle back = owned(raw);
  EXPECT_EQ(text_of(back.get()), text_of(ring.get()));
  ASSERT_EQ(cleave_ring_with_weight(back.get(), "b", 5, &raw, nullptr), CLEAVE_RING_OK);
  const Handle heavier = owned(raw);
  cleave_ring_node node = {};
  ASSERT_EQ(cleave_ring_node_at(heavier.get(), 1, &node), CLEAVE_RING_OK);
  EXPECT_STREQ(node.name, "b");
  EXPECT_EQ(node.weight, 5U);
  EXPECT_STREQ(node.rack, "r1");
  EXPECT_STREQ(node.datacenter, "d1");
}

TEST(CRing, DiffCountsNodesByEachRingsIndexes) {
  const cleave_ring_node only_b = {"b", 1, nullptr, nullptr};
  cleave_ring* raw = nullptr;
  ASSERT_EQ(cleave_ring_create("vnode", nullptr, 0, &only_b, 1, &raw, nullptr), CLEAVE_RING_OK);
  const Handle alone = owned(raw);
  const Handle both = made("vnode");
  std::size_t count = 0;
  cleave_ring_diff(alone.get(), both.get(), nullptr, 0, &count, nullptr);
  std::vector<cleave_ring_change> changes(count);
  ASSERT_EQ(cleave_ring_diff(alone.get(), both.get(), changes.data(), count, &count, nullptr),
            CLEAVE_RING_OK);
  double share = 0;
  for (const cleave_ring_change& change : changes) {
    EXPECT_EQ(change.from, 0U);  // b, there
    EXPECT_EQ(change.to, 0U);    // a, here
    share += change.share;
  }
  double shares[2] = {};
  cleave_ring_shares(both.get(), shares, 2, &count);
  EXPECT_NEAR(share, shares[0], 1e-9);
}

TEST(CRing, ACopyLivesByItself) {
  Handle ring = made("vnode");
  cleave_ring* raw = nullptr;
  ASSERT_EQ(cleave_ring_copy(ring.get(), &raw), CLEAVE_RING_OK);
  const Handle copy = owned(raw);
  const std::string text = text_of(ring.get());
  ring.reset();
  EXPECT_EQ(text_of(copy.get()), text);
  ASSERT_EQ(cleave_ring_from_text(text.data(), text.size(), &raw, nullptr), CLEAVE_RING_OK);
  const Handle read = owned(raw);
  EXPECT_EQ(text_of(read.get()), text);
}

TEST(CRing, AKeyWithoutAPlaceIsNoError) {
  const Handle ring = made("nginx");
  std::size_t node = 0;
  std::uint64_t token = 0;
  EXPECT_EQ(cleave_ring_locate(ring.get(), nullptr, 0, &node), CLEAVE_RING_OK);
  EXPECT_EQ(node, CLEAVE_RING_NOWHERE);
  EXPECT_EQ(cleave_ring_token_of(ring.get(), "", 0, &token), CLEAVE_RING_NOT_FOUND);
}

// Every status must be that of a NULL where something is needed.
void expect_invalid(std::initializer_list<cleave_ring_status> statuses) {
  std::size_t call = 0;
  for (const cleave_ring_status status : statuses) {
    EXPECT_EQ(status, CLEAVE_RING_INVALID) << "call " << call;
    ++call;
  }
}

TEST(CRing, NullIsInvalidForWhatAsks) {
  const Handle handle = made("vnode");
  const cleave_ring* ring = handle.get();
  std::size_t size = 0;
  std::uint64_t token = 0;
  double share = 0;
  const char* key = "k";
  cleave_ring_node node = {};
  expect_invalid({cleave_ring_to_text(nullptr, nullptr, 0, &size),
                  cleave_ring_to_text(ring, nullptr, 0, nullptr),
                  cleave_ring_to_text(ring, nullptr, 9, &size),
                  cleave_ring_locate(nullptr, "k", 1, &size),
                  cleave_ring_locate(ring, nullptr, 1, &size),
                  cleave_ring_locate(ring, "k", 1, nullptr),
                  cleave_ring_locate_many(nullptr, &key, &size, 1, &size),
                  cleave_ring_locate_many(ring, nullptr, &size, 1, &size),
                  cleave_ring_locate_many(ring, &key, nullptr, 1, &size),
                  cleave_ring_locate_many(ring, &key, &size, 1, nullptr),
                  cleave_ring_token_of(nullptr, "k", 1, &token),
                  cleave_ring_token_of(ring, nullptr, 1, &token),
                  cleave_ring_token_of(ring, "k", 1, nullptr),
                  cleave_ring_owner(nullptr, 1, &size),
                  cleave_ring_owner(ring, 1, nullptr),
                  cleave_ring_node_at(nullptr, 0, &node),
                  cleave_ring_node_at(ring, 0, nullptr),
                  cleave_ring_find(nullptr, "a", &size),
                  cleave_ring_find(ring, nullptr, &size),
                  cleave_ring_find(ring, "a", nullptr),
                  cleave_ring_arcs(nullptr, nullptr, 0, &size),
                  cleave_ring_arcs(ring, nullptr, 0, nullptr),
                  cleave_ring_arcs(ring, nullptr, 1'000'000, &size),
                  cleave_ring_cuts(nullptr, nullptr, 0, &size),
                  cleave_ring_cuts(ring, nullptr, 0, nullptr),
                  cleave_ring_shares(nullptr, &share, 1, &size),
                  cleave_ring_shares(ring, nullptr, 9, &size),
                  cleave_ring_diff(nullptr, ring, nullptr, 0, &size, nullptr),
                  cleave_ring_diff(ring, nullptr, nullptr, 0, &size, nullptr),
                  cleave_ring_diff(ring, ring, nullptr, 0, nullptr, nullptr)});
  EXPECT_EQ(cleave_ring_has_fixed_tokens(nullptr), 0);
  EXPECT_EQ(cleave_ring_node_count(nullptr), 0U);
}

TEST(CRing, NullIsInvalidForWhatMakes) {
  const Handle handle = made("vnode");
  const cleave_ring* ring = handle.get();
  const cleave_ring_arc cut = {1, 2, 0};
  const cleave_ring_option half = {"hash", nullptr};
  const cleave_ring_node nameless = {nullptr, 1, nullptr, nullptr};
  cleave_ring* out = nullptr;
  expect_invalid({cleave_ring_create(nullptr, nullptr, 0, kNodes, 2, &out, nullptr),
                  cleave_ring_create("vnode", nullptr, 1, kNodes, 2, &out, nullptr),
                  cleave_ring_create("vnode", &half, 1, kNodes, 2, &out, nullptr),
                  cleave_ring_create("vnode", nullptr, 0, nullptr, 2, &out, nullptr),
                  cleave_ring_create("vnode", nullptr, 0, nullptr, 0, &out, nullptr),
                  cleave_ring_create("vnode", nullptr, 0, &nameless, 1, &out, nullptr),
                  cleave_ring_create("vnode", nullptr, 0, kNodes, 2, nullptr, nullptr),
                  cleave_ring_from_text(nullptr, 0, &out, nullptr),
                  cleave_ring_from_text("{}", 2, nullptr, nullptr),
                  cleave_ring_copy(nullptr, &out),
                  cleave_ring_copy(ring, nullptr),
                  cleave_ring_with_node(nullptr, &kNodes[0], &out, nullptr),
                  cleave_ring_with_node(ring, nullptr, &out, nullptr),
                  cleave_ring_with_node(ring, &nameless, &out, nullptr),
                  cleave_ring_with_node(ring, &kNodes[0], nullptr, nullptr),
                  cleave_ring_without_node(nullptr, "a", &out, nullptr),
                  cleave_ring_without_node(ring, nullptr, &out, nullptr),
                  cleave_ring_with_weight(nullptr, "a", 1, &out, nullptr),
                  cleave_ring_with_weight(ring, nullptr, 1, &out, nullptr),
                  cleave_ring_with_cut(nullptr, &cut, &out, nullptr),
                  cleave_ring_with_cut(ring, nullptr, &out, nullptr),
                  cleave_ring_without_cuts(nullptr, &out, nullptr),
                  cleave_ring_without_cuts(ring, nullptr, nullptr)});
  EXPECT_EQ(out, nullptr);
  cleave_ring_free(nullptr);
}

// Seen before the memory behind them would be read.
TEST(CRing, AbsurdLengthsAreRefusedUnread) {
  constexpr std::size_t kAbsurd = std::numeric_limits<std::size_t>::max();
  const Handle ring = made("vnode");
  const char* key = "k";
  std::size_t size = kAbsurd;
  std::size_t node = 0;
  std::uint64_t token = 0;
  cleave_ring* out = nullptr;
  const cleave_ring_option option = {"a", "b"};
  EXPECT_EQ(cleave_ring_locate(ring.get(), key, kAbsurd, &node), CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_locate(ring.get(), key, CLEAVE_RING_KEY_BYTES_MAX + std::size_t{1}, &node),
            CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_token_of(ring.get(), key, kAbsurd, &token), CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_locate_many(ring.get(), &key, &size, 1, &node), CLEAVE_RING_INVALID);
  EXPECT_EQ(cleave_ring_locate_many(ring.get(), &key, &size, kAbsurd, &node), CLEAVE_RING_LIMIT);
  EXPECT_EQ(cleave_ring_create("vnode", nullptr, 0, kNodes, kAbsurd, &out, nullptr),
            CLEAVE_RING_LIMIT);
  EXPECT_EQ(cleave_ring_create("vnode", &option, kAbsurd, kNodes, 2, &out, nullptr),
            CLEAVE_RING_LIMIT);
  EXPECT_EQ(cleave_ring_from_text("{}", kAbsurd, &out, nullptr), CLEAVE_RING_LIMIT);
  EXPECT_EQ(cleave_ring_node_at(ring.get(), kAbsurd, nullptr), CLEAVE_RING_INVALID);
  cleave_ring_node found;
  EXPECT_EQ(cleave_ring_node_at(ring.get(), kAbsurd, &found), CLEAVE_RING_NOT_FOUND);
  const cleave_ring_arc cut = {1, 2, kAbsurd};
  EXPECT_EQ(cleave_ring_with_cut(ring.get(), &cut, &out, nullptr), CLEAVE_RING_NOT_FOUND);
}

TEST(CRing, AFailureFillsTheErrorAndClearsTheHandle) {
  cleave_ring_error error = {};
  const Handle there = made("vnode");
  cleave_ring* ring = there.get();
  EXPECT_EQ(cleave_ring_create("kettle", nullptr, 0, kNodes, 2, &ring, &error),
            CLEAVE_RING_INVALID);
  EXPECT_EQ(ring, nullptr);
  EXPECT_EQ(error.status, CLEAVE_RING_INVALID);
  EXPECT_EQ(std::string(error.message).find("no scheme is named 'kettle'; there are: "), 0U);
  const cleave_ring_option twice[] = {{"hash", "md5"}, {"hash", "crc"}};
  EXPECT_EQ(cleave_ring_create("libmemcached-ketama", twice, 2, kNodes, 2, &ring, &error),
            CLEAVE_RING_INVALID);
  EXPECT_STREQ(error.message, "an option is given twice");
  EXPECT_EQ(cleave_ring_with_weight(there.get(), "a", 0, &ring, &error), CLEAVE_RING_INVALID);
  EXPECT_STREQ(error.message, "node 'a': weight 0, want 1 to 1000000");
  std::size_t count = 0;
  const Handle other = made("nginx");
  EXPECT_EQ(cleave_ring_diff(there.get(), other.get(), nullptr, 0, &count, &error),
            CLEAVE_RING_INVALID);
}

// A message that does not fit ends at a whole character, and always with a zero byte.
TEST(CRing, LongMessagesAreCutAtACharacter) {
  for (std::string name : {"", "x"}) {  // for one of them the end lies within a character
    while (name.size() < 2'000) name += "\xC3\xA9";
    cleave_ring_error error = {};
    cleave_ring* ring = nullptr;
    EXPECT_EQ(cleave_ring_create(name.c_str(), nullptr, 0, kNodes, 2, &ring, &error),
              CLEAVE_RING_INVALID);
    const std::string message = error.message;
    EXPECT_GE(message.size(), sizeof(error.message) - 2);
    EXPECT_EQ(message.substr(message.size() - 2), "\xC3\xA9");
  }
}

TEST(CRing, NoExceptionPasses) {
  using cleave::ring_library::guarded;
  cleave_ring_error error = {};
  EXPECT_EQ(guarded(&error, []() -> cleave_ring_status { throw std::bad_alloc(); }),
            CLEAVE_RING_NO_MEMORY);
  EXPECT_STREQ(error.message, "out of memory");
  EXPECT_EQ(guarded(&error, []() -> cleave_ring_status { throw std::length_error("long"); }),
            CLEAVE_RING_INTERNAL);
  EXPECT_STREQ(error.message, "long");
  EXPECT_EQ(guarded(&error, []() -> cleave_ring_status { throw 7; }), CLEAVE_RING_INTERNAL);
  EXPECT_STREQ(error.message, "a fault of the library");
}

}  // namespace
