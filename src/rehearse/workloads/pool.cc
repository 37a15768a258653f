#include "rehearse/workloads/pool.h"

#include <algorithm>
#include <utility>

#include "balance/input/input.h"
#include "base/check.h"
#include "base/wide.h"
#include "ring/edits/whole_move.h"

namespace cleave::rehearse {
namespace {

ring::Node ring_node(const NodeSpec& spec) {
  return {.id = {},
          .name = spec.name,
          .weight = spec.weight,
          .members = {{.address = spec.name + ":6379", .rack = spec.rack}},
          .hash_key = spec.hash_key};
}

PoolNode pool_node(const NodeSpec& spec) {
  return {.spec = spec, .capacity = spec.weight * balance::kCore};
}

}  // namespace

Result<ring::Document> simulated_document(const std::vector<NodeSpec>& nodes, UnixMillis now,
                                          const ring::SchemeSpec& scheme) {
  ring::Creation creation{
      .pool = "simulated", .mark = "simulated", .nodes = {}, .scheme = scheme, .now = now};
  for (const NodeSpec& spec : nodes) creation.nodes.push_back(ring_node(spec));
  return ring::create(creation);
}

Pool::Pool(const std::vector<NodeSpec>& nodes, UnixMillis now, const ring::SchemeSpec& scheme) {
  for (const NodeSpec& spec : nodes) nodes_.push_back(pool_node(spec));
  auto document = simulated_document(nodes, now, scheme);
  CHECK(document);
  document_ = std::move(*document);
}

const ring::RingSnapshot& Pool::view() {
  if (view_ == nullptr) {
    auto view = ring::RingView::build(document_);
    CHECK(view);
    view_ = std::move(*view);
  }
  return view_;
}

void Pool::add(const NodeSpec& node, UnixMillis now) {
  CHECK(adopt(ring::add_node(document_, ring_node(node), now)));
  nodes_.push_back(pool_node(node));
}

Result<void> Pool::drain(std::string_view name, UnixMillis now) {
  const ring::Node* node = ring::find_node(document_, name);
  if (node == nullptr) return fail(Code::kNotFound, "no node is named '" + std::string(name) + "'");
  const std::size_t number = number_of(node->id);
  Result<void> drained = adopt(ring::drain_node(document_, node->id, now));
  if (drained) nodes_[number].active = false;
  return drained;
}

void Pool::remove_empty() {
  for (std::size_t number = 0; number < nodes_.size(); ++number) {
    PoolNode& node = nodes_[number];
    if (node.active || !node.member || !view()->owned_by(id_of(number)).empty()) continue;
    // Refused while it takes part in a move: then it leaves a little later.
    if (adopt(ring::remove_node(document_, id_of(number), /*now=*/{}))) node.member = false;
  }
}

void Pool::set_rack_healthy(std::string_view rack, bool healthy) {
  for (PoolNode& node : nodes_) {
    if (node.spec.rack == rack) node.healthy = healthy;
  }
}

Result<MoveId> Pool::begin(const balance::PlannedMove& move, UnixMillis now) {
  auto begun = adopt(ring::begin_move(document_, {.ranges = move.ranges,
                                                  .source = move.source,
                                                  .destination = move.destination,
                                                  .reason = move.reason,
                                                  .now = now}));
  if (!begun) return std::unexpected(begun.error());
  return MoveId{document_.epoch.value()};
}

void Pool::commit(MoveId move, UnixMillis now) {
  CHECK(adopt(ring::complete_move(document_, move, now)));
}

void Pool::abort(MoveId move) {
  const ring::Move* found = ring::find_move(document_, move);
  CHECK(found != nullptr);
  CHECK(adopt(ring::abort_move(document_, move, found->phase_epoch)));
}

Result<void> Pool::lay_cut(const ring::Cut& cut) { return adopt(ring::lay_cut(document_, cut)); }

Result<void> Pool::merge(const ring::TokenRange& range, UnixMillis now) {
  return adopt(ring::merge_cuts(document_, range, now));
}

std::vector<std::uint64_t> Pool::fair_loads(std::uint64_t total) const {
  Wide capacity = 0;
  for (const std::uint64_t each : capacities()) capacity += each;
  std::vector<std::uint64_t> fair;
  for (const PoolNode& node : nodes_) {
    fair.push_back(node.active ? static_cast<std::uint64_t>(Wide{total} * node.capacity / capacity)
                               : 0);
  }
  return fair;
}

std::vector<std::uint64_t> Pool::capacities() const {
  std::vector<std::uint64_t> capacities;
  for (const PoolNode& node : nodes_) {
    if (node.active) capacities.push_back(node.capacity);
  }
  return capacities;
}

Result<void> Pool::adopt(Result<ring::Document> next) {
  if (!next) return std::unexpected(next.error());
  document_ = std::move(*next);
  view_ = nullptr;
  return {};
}

}  // namespace cleave::rehearse
