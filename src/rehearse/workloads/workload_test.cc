#include "rehearse/workloads/workload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rehearse/workloads/truth.h"

namespace cleave::rehearse {
namespace {

constexpr Setting kSmall{.nodes = 8, .keys = 4'000, .seed = 3};

std::unique_ptr<Workload> make(std::string_view name) {
  auto made = make_workload(name, kSmall);
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

// Everything that the scene is at a second, for comparison.
Scene scene_at(Workload& workload, seconds at) {
  Scene scene;
  for (seconds now{0}; now <= at; now += workload.step()) workload.set(now, scene);
  return scene;
}

std::uint64_t weights(const Scene& scene) {
  std::uint64_t sum = 0;
  for (const SceneKey& key : scene.keys) sum += key.weight / 1'000;
  return sum;
}

TEST(Workload, EveryNameMakesASceneThatKeepsItsKeysInTokenOrder) {
  for (const std::string& line : workload_names()) {
    std::string name = line.substr(0, line.find(' '));
    if (name == "zipf:A") name = "zipf:0.99";
    if (name == "shift:SECONDS") name = "shift:30";
    if (name == "twitter:N") name = "twitter:54";
    if (name == "twins:PERCENT") name = "twins:12";
    const auto workload = make(name);
    ASSERT_NE(workload, nullptr);
    Scene scene;
    for (seconds at{0}; at < seconds{100}; at += workload->step()) workload->set(at, scene);
    EXPECT_GE(scene.keys.size(), kSmall.keys) << name;
    EXPECT_TRUE(std::ranges::is_sorted(scene.keys, {}, &SceneKey::token)) << name;
    EXPECT_GT(weights(scene), 0U) << name;
    EXPECT_EQ(workload->nodes().size(), kSmall.nodes) << name;
  }
}

TEST(Workload, RefusesWhatItDoesNotKnow) {
  for (const char* name : {"", "zip", "zipf", "zipf:", "zipf:x", "zipf:9", "uniform:1", "shift:0",
                           "twitter:0", "twitter:55"}) {
    const auto made = make_workload(name, kSmall);
    ASSERT_FALSE(made) << name;
    EXPECT_EQ(made.error().code, Code::kInvalid) << name;
  }
}

TEST(Workload, TheSameSeedAsksForTheSame) {
  const Scene left = scene_at(*make("shift:30"), seconds{90});
  const Scene right = scene_at(*make("shift:30"), seconds{90});
  for (std::size_t key = 0; key < left.keys.size(); ++key) {
    ASSERT_EQ(left.keys[key].weight, right.keys[key].weight);
  }
}

TEST(Workload, AFlashKeyGetsThreeTenthsAndTheOthersKeepTheirs) {
  const auto workload = make("flash");
  const Scene before = scene_at(*workload, seconds{119});
  Scene scene = before;
  EXPECT_TRUE(workload->set(seconds{120}, scene).turn);
  const auto hot = std::ranges::max(scene.keys, {}, &SceneKey::weight);
  EXPECT_NEAR(static_cast<double>(hot.weight) / 1e3 / static_cast<double>(weights(scene)), 0.3,
              0.001);
  EXPECT_NEAR(static_cast<double>(scene.load) * 0.7, static_cast<double>(before.load), 1e6);
}

TEST(Workload, ASquareWaveIsWorthOneAndAHalfNodes) {
  const auto workload = make("square");
  const Scene low = scene_at(*workload, seconds{7});
  Scene high = low;
  workload->set(seconds{8}, high);
  EXPECT_EQ(high.load - low.load, load_of(3, 200'000));
  EXPECT_NEAR(static_cast<double>(weights(high)) / static_cast<double>(weights(low)), 1 + 1.5 / 8,
              0.001);
}

TEST(Workload, KeysOfATagShareItsToken) {
  const Scene scene = scene_at(*make("tags"), seconds{0});
  const auto tag = [](const SceneKey& key) { return key.name.substr(0, key.name.find('}')); };
  std::size_t tagged = 0;
  for (std::size_t at = 1; at < scene.keys.size(); ++at) {
    if (scene.keys[at].name.front() != '{') continue;
    ++tagged;
    if (scene.keys[at - 1].token == scene.keys[at].token) {
      EXPECT_EQ(tag(scene.keys[at - 1]), tag(scene.keys[at]));
    }
  }
  EXPECT_GE(tagged + 1, kSmall.keys / 2);
}

TEST(Workload, NegativeReadsLieInAStretchWithHardlyAKey) {
  const Scene scene = scene_at(*make("negative"), seconds{0});
  std::uint64_t absent = 0;
  for (const SceneKey& key : scene.keys) absent += key.bytes == 0 ? key.weight / 1'000 : 0;
  EXPECT_NEAR(static_cast<double>(absent) / static_cast<double>(weights(scene)), 0.3, 0.01);
}

TEST(Truth, ReadsOfTheHottestKeysCostTheServersNothing) {
  Scene scene{.keys = make_keys(10, 100), .load = 1'000, .read_ppm = 900'000};
  set_uniform(scene);
  scene.keys[3].weight = 11 * kUsualWeight;
  scene.keys[5].bytes = 0;
  Truth plain({});
  plain.set(scene);
  EXPECT_EQ(plain.key_loads()[3], 550U);
  EXPECT_EQ(plain.total_load(), 1'000U);
  Truth cached({.cached_keys = 1});
  cached.set(scene);
  EXPECT_EQ(cached.key_loads()[3], 55U);
  EXPECT_EQ(cached.in(ring::TokenRange{ring::kFirstToken, ring::kLastToken}),
            (Amount{.load = 505, .keys = 9, .bytes = 900}));
}

TEST(Truth, ColdKeysLieEvenly) {
  const Truth::Options options{.cold = {.count = 1'000, .bytes_each = 3}};
  Scene scene;
  Truth truth(options);
  truth.set(scene);
  const ring::TokenRange half{Token{0}, Token{(std::uint64_t{1} << 63U) - 1}};
  EXPECT_EQ(truth.in(half), (Amount{.load = 0, .keys = 500, .bytes = 1'500}));
}

}  // namespace
}  // namespace cleave::rehearse
