#include "proxy/moves/dirty_set.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/rng.h"

namespace cleave::proxy {
namespace {

TEST(DirtySet, HandsOverEachKeyOnceAndStartsAgain) {
  DirtySet dirty(10);
  dirty.add("b");
  dirty.add("a");
  dirty.add("b");
  const peer::DirtyBatch first = dirty.take(3);
  EXPECT_EQ(first.number, 3U);
  EXPECT_EQ(first.keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(first.whole_range);
  EXPECT_TRUE(dirty.take(4).keys.empty());
}

TEST(DirtySet, TooManyKeysBecomeTheWholeRange) {
  DirtySet dirty(3);
  for (const char* key : {"a", "b", "c"}) dirty.add(key);
  EXPECT_FALSE(dirty.whole_range());
  dirty.add("c");
  EXPECT_FALSE(dirty.whole_range()) << "a key that is there needs no place";
  dirty.add("d");
  EXPECT_TRUE(dirty.whole_range());
  EXPECT_EQ(dirty.size(), 0U) << "the keys no longer matter";
  const peer::DirtyBatch batch = dirty.take(1);
  EXPECT_TRUE(batch.whole_range);
  EXPECT_FALSE(dirty.whole_range());
}

TEST(DirtySet, TooManyBytesBecomeTheWholeRange) {
  DirtySet dirty(4);
  const std::size_t most = 4 * DirtySet::kBytesPerKey;
  dirty.add(std::string(most, 'x'));
  EXPECT_FALSE(dirty.whole_range());
  dirty.add("y");
  EXPECT_TRUE(dirty.whole_range());
}

TEST(DirtySet, JoinsBatchesAndTheirWholeRange) {
  DirtySet dirty(10);
  dirty.add("a");
  dirty.add({.number = 1, .keys = {"a", "b"}, .whole_range = false});
  EXPECT_EQ(dirty.size(), 2U);
  dirty.add({.number = 1, .keys = {}, .whole_range = true});
  EXPECT_TRUE(dirty.take(2).whole_range);
}

// Whatever is added between two takes is in the second, unless that says "the whole range".
using Elements = std::vector<std::string>;

TEST(DirtySet, ElementsAddUpToTheirWholeKey) {
  DirtySet dirty(100);
  dirty.add("h", Elements{"b", "a"});
  dirty.add("h", Elements{"a", "c"});
  dirty.add("whole", Elements{"x"});
  dirty.add("whole");
  dirty.add("whole", Elements{"y"});
  EXPECT_EQ(dirty.size(), 4U);
  const peer::DirtyBatch batch = dirty.take(1);
  EXPECT_EQ(batch.keys, Elements{"whole"});
  EXPECT_EQ(batch.elements, (std::vector<Touched>{{.key = "h", .elements = {"a", "b", "c"}}}));
  EXPECT_EQ(dirty.size(), 0U);
  EXPECT_TRUE(dirty.take(2).elements.empty());
}

TEST(DirtySet, TooManyElementsBecomeTheirKeyAndNotTheRange) {
  DirtySet dirty(10);
  dirty.add("other");
  for (int i = 0; i < 50; ++i) dirty.add("h", Elements{"f" + std::to_string(i)});
  const peer::DirtyBatch batch = dirty.take(1);
  EXPECT_FALSE(batch.whole_range);
  EXPECT_EQ(batch.keys, (Elements{"h", "other"}));
  EXPECT_TRUE(batch.elements.empty());
  dirty.add("h", Elements{std::string(10 * DirtySet::kBytesPerKey, 'x')});
  EXPECT_EQ(dirty.take(2).keys, Elements{"h"}) << "their bytes are bounded too";
}

TEST(DirtySet, JoinsElementsOfSeveralWorkers) {
  DirtySet joined(100);
  joined.add({.number = 0, .keys = {"b"}, .elements = {{.key = "a", .elements = {"x"}}}});
  joined.add({.number = 0,
              .keys = {},
              .elements = {{.key = "a", .elements = {"y"}}, {.key = "b", .elements = {"z"}}}});
  const peer::DirtyBatch batch = joined.take(1);
  EXPECT_EQ(batch.keys, Elements{"b"});
  EXPECT_EQ(batch.elements, (std::vector<Touched>{{.key = "a", .elements = {"x", "y"}}}));
}

TEST(DirtySet, LosesNothingUnderRandomUse) {
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    DirtySet dirty(1 + rng.below(40));
    std::set<std::string> model;
    for (int step = 0; step < 200; ++step) {
      if (rng.chance(9, 10)) {
        const std::string key = "k" + std::to_string(rng.below(60));
        dirty.add(key);
        model.insert(key);
        continue;
      }
      const peer::DirtyBatch batch = dirty.take(1);
      if (!batch.whole_range) {
        ASSERT_EQ(batch.keys, std::vector<std::string>(model.begin(), model.end()));
      }
      model.clear();
    }
  }
}

}  // namespace
}  // namespace cleave::proxy
