#include "rehearse/workloads/workloads_nodes.h"

namespace cleave::rehearse {
namespace {

constexpr seconds kRackFails{7};  // the first moves are under way
constexpr seconds kRackReturns{127};
constexpr seconds kNodeChanges{600};

}  // namespace

std::vector<NodeSpec> CapacitiesWorkload::nodes() const {
  std::vector<NodeSpec> nodes = equal_nodes(setting().nodes);
  for (std::size_t number = 0; number < nodes.size(); ++number) {
    nodes[number].weight = 1U << number % 3;
  }
  return nodes;
}

Change CapacitiesWorkload::set(seconds at, Scene& scene) {
  const Change change = ZipfWorkload::set(at, scene);
  std::size_t weights = 0;
  for (const NodeSpec& node : nodes()) weights += node.weight;
  scene.load = load_of(weights, shape().utilisation_ppm);
  return change;
}

std::vector<NodeSpec> RackLossWorkload::nodes() const {
  std::vector<NodeSpec> nodes = equal_nodes(setting().nodes);
  for (std::size_t number = 0; number < nodes.size(); ++number) {
    nodes[number].rack = "r" + std::to_string(number / 2 + 1);
  }
  return nodes;
}

Change RackLossWorkload::set(seconds at, Scene& scene) {
  Change change = ZipfWorkload::set(at, scene);
  if (at == kRackFails) change.events = {{.kind = NodeEvent::Kind::kRackFails, .name = "r1"}};
  if (at == kRackReturns) change.events = {{.kind = NodeEvent::Kind::kRackReturns, .name = "r1"}};
  return change;
}

Change JoinWorkload::set(seconds at, Scene& scene) {
  if (at != kNodeChanges) return ZipfWorkload::set(at, scene);
  const std::string number = std::to_string(setting().nodes + 1);
  return {.turn = true,
          .events = {{.kind = NodeEvent::Kind::kJoins,
                      .node = {.name = "n" + number, .rack = "r" + number}}}};
}

Change LeaveWorkload::set(seconds at, Scene& scene) {
  if (at != kNodeChanges) return ZipfWorkload::set(at, scene);
  return {.turn = true, .events = {{.kind = NodeEvent::Kind::kLeaves, .name = "n1"}}};
}

}  // namespace cleave::rehearse
