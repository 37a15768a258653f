#include "rehearse/scenes/churn.h"

#include "base/check.h"
#include "rehearse/scenes/cluster.h"
#include "rehearse/scenes/share_moves.h"
#include "ring/arc_table.h"
#include "ring/document/shares.h"
#include "ring/edits/edits.h"
#include "ring/view/diff.h"
#include "ring/vnode.h"
#include "ring/width.h"

namespace cleave::rehearse {
namespace {

constexpr UnixMillis kAnyTime{1};  // nothing here depends on when

ring::Node node_of(const ChurnInput& input, std::size_t index) {
  ring::Node node;
  node.name = input.nodes[index];
  node.weight = input.weights[index];
  node.members = {{.address = node.name + ":6379", .rack = ""}};
  return node;
}

ring::Document first_document(const ChurnInput& input) {
  ring::Creation creation{.pool = "churn", .mark = "", .nodes = {}, .now = kAnyTime};
  for (std::size_t i = 0; i + 1 < input.nodes.size(); ++i) {
    creation.nodes.push_back(node_of(input, i));
  }
  const auto document = ring::create(creation);
  CHECK(document);
  return *document;
}

ChurnStage stage_of(std::string name, const Cluster& cluster) {
  ChurnStage stage{.name = std::move(name), .nodes = {}};
  for (const ring::Node& node : cluster.document().nodes) {
    stage.nodes.push_back({.name = node.name,
                           .weight = node.weight,
                           .keys = cluster.keys_of(node.id),
                           .share_ppm = ring::share_ppm(cluster.view().owned_by(node.id))});
  }
  return stage;
}

// The share of the ring that nodes own above what their weights give them.
std::uint64_t excess_ppm(const ring::RingView& view) {
  std::vector<ring::Arc> arcs;
  for (const ring::Entry& entry : view.entries()) arcs.push_back({entry.range, entry.node});
  Wide sum = 0;
  for (const ring::Share& share : ring::shares_of(view.document().nodes, arcs)) {
    sum += share.excess();
  }
  return ring::ppm_of_all(sum);
}

// Moves ownership until every node has its share.
CleaveChurnStage settle(std::string name, Cluster& cluster) {
  CleaveChurnStage result;
  result.moved_least_ppm = excess_ppm(cluster.view());
  const ring::Document before = cluster.document();
  const std::uint64_t moves_before = cluster.moves();
  const std::uint64_t keys_before = cluster.keys_moved();
  while (const auto request = next_share_move(cluster.document(), kAnyTime)) cluster.move(*request);
  const auto view = ring::RingView::build(before);
  CHECK(view);
  result.moved_ppm = ring::moved_ppm(ring::diff(**view, cluster.view()));
  result.moves = cluster.moves() - moves_before;
  result.cuts = cluster.document().cuts.size();
  result.stage = stage_of(std::move(name), cluster);
  result.stage.keys_moved = cluster.keys_moved() - keys_before;
  return result;
}

}  // namespace

ChurnInput churn_input() {
  ChurnInput input{.nodes = {"CacheServer-A", "CacheServer-B", "CacheServer-C"},
                   .weights = {1, 1, 1},
                   .keys = {}};
  for (int i = 0; i < 10'000; ++i) input.keys.push_back("data_key_" + std::to_string(i));
  return input;
}

CleaveChurn cleave_churn(const ChurnInput& input) {
  CHECK(input.nodes.size() >= 2 && input.weights.size() == input.nodes.size());
  std::vector<Token> tokens;
  tokens.reserve(input.keys.size());
  for (const std::string& key : input.keys) tokens.push_back(ring::vnode_token(key));
  Cluster cluster(first_document(input), std::move(tokens));
  CleaveChurn result;
  result.stages.push_back(
      {.stage = stage_of("start", cluster), .cuts = cluster.document().cuts.size()});

  cluster.apply(
      ring::add_node(cluster.document(), node_of(input, input.nodes.size() - 1), kAnyTime));
  result.stages.push_back(settle("joined", cluster));

  const NodeId leaver = cluster.document().nodes[input.nodes.size() - 2].id;
  cluster.apply(ring::drain_node(cluster.document(), leaver, kAnyTime));
  result.stages.push_back(settle("left", cluster));
  cluster.apply(ring::remove_node(cluster.document(), leaver, kAnyTime));
  result.stages.back().stage.nodes = stage_of("left", cluster).nodes;
  result.reads_missed = cluster.reads_missed();
  return result;
}

}  // namespace cleave::rehearse
