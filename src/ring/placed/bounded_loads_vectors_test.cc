// Bounded loads as the real HAProxy 2.6.12 kept them, while requests came and went
// (ring/testdata/vectors/haproxy_bounded_loads.json).
#include <gtest/gtest.h>

#include "ring/placed/bounded_loads.h"
#include "ring/placed/placement_diff.h"
#include "ring/schemes/vectors_testing.h"

namespace cleave::ring {
namespace {

using testing::VectorJson;

// How many requests were compared.
std::size_t compare(const VectorJson& json) {
  std::vector<PlacedNode> placed;
  std::vector<WeightedNode> weighted;
  for (const VectorJson& weight : json["weights"]) {
    placed.push_back({"s" + std::to_string(placed.size()), weight.get<std::uint32_t>()});
    weighted.push_back({NodeId{static_cast<std::uint32_t>(placed.size())}, placed.back().weight});
  }
  const auto ring =
      place({.name = "haproxy",
             .options = {{"method", "consistent"}, {"hash", "sdbm"}, {"avalanche", "true"}}},
            placed);
  EXPECT_TRUE(ring);
  auto loads = BoundedLoads::build(arcs_of(**ring), weighted,
                                   json["factor"].get<std::uint32_t>() * 10, Rounding::kHaproxy);
  EXPECT_TRUE(loads);
  std::size_t compared = 0;
  for (const VectorJson& step : json["steps"]) {
    if (step.is_number()) {
      EXPECT_TRUE(loads->release(NodeId{step.get<std::uint32_t>() + 1}));
      continue;
    }
    const auto token = (*ring)->token_of(step[0].get<std::string>());
    EXPECT_EQ(loads->acquire(*token).value() - 1, step[1].get<std::uint32_t>())
        << "request " << compared;
    ++compared;
  }
  return compared;
}

TEST(BoundedLoadsVectors, AreTheChoiceOfHaproxy) {
  const VectorJson file = testing::read_vectors("haproxy_bounded_loads.json");
  std::size_t compared = 0;
  for (const VectorJson& json : file["configurations"]) {
    SCOPED_TRACE("factor " + json["factor"].dump() + ", weights " + json["weights"].dump());
    compared += compare(json);
  }
  EXPECT_EQ(compared, 1'359U);
}

}  // namespace
}  // namespace cleave::ring
