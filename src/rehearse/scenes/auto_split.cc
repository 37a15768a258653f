#include "rehearse/scenes/auto_split.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "rehearse/scenes/cluster.h"
#include "rehearse/scenes/naive_ring.h"
#include "ring/edits/edits.h"

namespace cleave::rehearse {
namespace {

constexpr UnixMillis kNow{1};  // nothing here depends on when

struct Point {
  std::int32_t hash;
  const char* node;
};
constexpr Point kPoints[] = {{100, "机器A"}, {200, "机器B"}, {300, "机器C"}};
constexpr const char* kJoining[] = {"机器D", "机器E", "机器F"};

// ---- the naive ring as cuts ---------------------------------------------------------------------

// 31-bit hashes as tokens, in order: each hash is a stretch of 2^33 tokens, its keys at the start.
constexpr unsigned kWidthShift = 33;

Token first_token(std::int32_t hash) {
  return Token{static_cast<std::uint64_t>(hash) << kWidthShift};
}
Token last_token(std::int32_t hash) { return Token{first_token(hash + 1).value() - 1}; }

ring::Node node_of(const char* name) {
  ring::Node node;
  node.name = name;
  node.members = {{.address = node.name + ":6379", .rack = ""}};
  return node;
}

ring::Cut cut_of(ring::TokenRange range, NodeId node) {
  return {.range = range,
          .node = node,
          .reason = "as the imported ring has it",
          .created = kNow,
          .pinned_until = {}};
}

// The range of the smallest point wraps. It is stored as two and is a range like any other.
ring::Document imported() {
  ring::Creation creation{.pool = "auto-split", .mark = "", .nodes = {}, .now = kNow};
  for (const Point& point : kPoints) creation.nodes.push_back(node_of(point.node));
  auto document = ring::create(creation);
  CHECK(document);
  document->cuts.clear();
  Token first = ring::kFirstToken;
  for (std::size_t i = 0; i < std::size(kPoints); ++i) {
    const Token last = last_token(kPoints[i].hash);
    document->cuts.push_back(cut_of({first, last}, document->nodes[i].id));
    first = Token{last.value() + 1};
  }
  document->cuts.push_back(cut_of({first, ring::kLastToken}, document->nodes[0].id));
  return *document;
}

// ---- cuts by load ------------------------------------------------------------------------------

std::vector<NodeKeys> counts_of(const Cluster& cluster) {
  std::vector<NodeKeys> counts;
  for (const ring::Node& node : cluster.document().nodes) {
    counts.push_back({.node = node.name, .keys = cluster.keys_of(node.id)});
  }
  return counts;
}

// What a node may keep: the limit, or an equal part where the nodes are too few for it.
std::uint64_t allowed(const Cluster& cluster, std::uint64_t keys_max) {
  const std::size_t nodes = cluster.document().nodes.size();
  return std::max<std::uint64_t>(keys_max, (cluster.keys().size() + nodes - 1) / nodes);
}

// The node's range with the most keys, and those keys in order.
struct Crowd {
  ring::TokenRange range;
  std::vector<Token> keys;
};

Crowd largest_crowd(const Cluster& cluster, NodeId node) {
  Crowd largest;
  for (const ring::TokenRange& range : cluster.view().owned_by(node)) {
    Crowd crowd{.range = range, .keys = {}};
    for (const Token key : cluster.keys()) {
      if (range.contains(key)) crowd.keys.push_back(key);
    }
    if (crowd.keys.size() > largest.keys.size()) largest = std::move(crowd);
  }
  std::ranges::sort(largest.keys);
  return largest;
}

// A piece of the crowd with `wanted` of its keys. Cut at that quantile of the keys, not in
// the middle of the tokens: these hashes lie so close together that a middle would part nothing. It
// touches an end of the range, the one where the taker already is, so it leaves no crumb. nullopt
// when all the keys are of one token.
std::optional<ring::TokenRange> piece_of(const Crowd& crowd, std::uint64_t wanted,
                                         bool from_the_front) {
  const std::vector<Token>& keys = crowd.keys;
  if (wanted >= keys.size()) return crowd.range;
  std::size_t boundary = from_the_front ? wanted : keys.size() - wanted;
  while (boundary > 0 && keys[boundary - 1] == keys[boundary]) --boundary;  // a token is an atom
  if (boundary == 0) return std::nullopt;
  const Token last = keys[boundary - 1];
  if (from_the_front) return ring::TokenRange{crowd.range.first, last};
  return ring::TokenRange{Token{last.value() + 1}, crowd.range.last};
}

bool owns_what_is_before(const Cluster& cluster, NodeId node, const ring::TokenRange& range) {
  return cluster.view().owner(Token{range.first.value() - 1}) == node;
}

// From the fullest node to the emptiest, exactly what one has too much or the other too little.
std::optional<ring::MoveRequest> next_piece(const Cluster& cluster, std::uint64_t keep) {
  const std::vector<NodeKeys> counts = counts_of(cluster);
  const auto giver = std::ranges::max_element(counts, {}, &NodeKeys::keys);
  const auto taker = std::ranges::min_element(counts, {}, &NodeKeys::keys);
  if (giver->keys <= keep || taker->keys >= keep) return std::nullopt;
  const auto id = [&](const NodeKeys& node) {
    return ring::find_node(cluster.document(), node.node)->id;
  };
  const Crowd crowd = largest_crowd(cluster, id(*giver));
  const auto piece = piece_of(crowd, std::min(giver->keys - keep, keep - taker->keys),
                              owns_what_is_before(cluster, id(*taker), crowd.range));
  if (!piece) return std::nullopt;
  return ring::MoveRequest{
      .ranges = {*piece},
      .source = id(*giver),
      .destination = id(*taker),
      .reason = giver->node + " holds " + std::to_string(giver->keys) + " keys",
      .now = kNow};
}

std::uint64_t merge_crumbs(Cluster& cluster) {
  const std::size_t before = cluster.document().cuts.size();
  auto merged = ring::merge_cuts(cluster.document(), {ring::kFirstToken, ring::kLastToken}, kNow);
  if (merged) cluster.apply(std::move(merged));
  return before - cluster.document().cuts.size();
}

std::string why_not(std::uint64_t keys, std::uint64_t nodes, const SplitStage& stage,
                    std::uint64_t keys_max) {
  return std::to_string(keys) + " keys on " + std::to_string(nodes) + " nodes are at least " +
         std::to_string((keys + nodes - 1) / nodes) + " on one of them; a limit of " +
         std::to_string(keys_max) + " needs " + std::to_string(stage.nodes_needed) + " nodes";
}

SplitStage spread(Cluster& cluster, std::uint64_t keys_max) {
  SplitStage stage;
  stage.before = counts_of(cluster);
  const std::uint64_t keep = allowed(cluster, keys_max);
  for (const NodeKeys& node : stage.before) {
    stage.keys_moved_least += node.keys > keep ? node.keys - keep : 0;
  }
  while (const auto request = next_piece(cluster, keep)) {
    const std::uint64_t moved_before = cluster.keys_moved();
    cluster.move(*request);
    const std::uint64_t keys = cluster.keys_moved() - moved_before;
    stage.pieces.push_back(
        {.range = request->ranges.front(),
         .source = ring::find_node(cluster.document(), request->source)->name,
         .destination = ring::find_node(cluster.document(), request->destination)->name,
         .keys = keys});
    stage.keys_moved += keys;
    stage.keys_hashed += keys;
  }
  stage.cuts_merged = merge_crumbs(cluster);
  stage.after = counts_of(cluster);
  stage.keys_max_reached = std::ranges::max(stage.after, {}, &NodeKeys::keys).keys;
  stage.limit_met = stage.keys_max_reached <= keys_max;
  stage.nodes_needed = (cluster.keys().size() + keys_max - 1) / keys_max;
  if (!stage.limit_met) {
    stage.why = why_not(cluster.keys().size(), stage.after.size(), stage, keys_max);
  }
  return stage;
}

}  // namespace

AutoSplitInput auto_split_input() {
  AutoSplitInput input;
  for (int i = 0; i < 30; ++i) input.keys.push_back("user-" + std::to_string(i));
  return input;
}

std::string naive_auto_split_owner(const std::string& key) {
  NaiveRing ring;
  for (const Point& point : kPoints) ring.put(point.hash, point.node);
  return ring.owner(masked_hash(key));
}

NaiveAutoSplit naive_auto_split(const AutoSplitInput& input) {
  NaiveAutoSplit result;
  for (const Point& point : kPoints) result.nodes.push_back({.node = point.node});
  for (const std::string& key : input.keys) {
    ++std::ranges::find(result.nodes, naive_auto_split_owner(key), &NodeKeys::node)->keys;
  }
  const NodeKeys& fullest = std::ranges::max(result.nodes, {}, &NodeKeys::keys);
  // Its range crosses zero, and the program takes only the numbers between two points for a range.
  if (fullest.keys > input.keys_max && fullest.node == kPoints[0].node) {
    result.why = fullest.node + ": smallest token, skipped";
  }
  return result;
}

CleaveAutoSplit cleave_auto_split(const AutoSplitInput& input) {
  CHECK(input.keys_max > 0);
  std::vector<Token> tokens;
  tokens.reserve(input.keys.size());
  for (const std::string& key : input.keys) tokens.push_back(first_token(masked_hash(key)));
  Cluster cluster(imported(), std::move(tokens));
  CleaveAutoSplit result;
  result.three_nodes = spread(cluster, input.keys_max);
  for (const char* name : kJoining) {
    cluster.apply(ring::add_node(cluster.document(), node_of(name), kNow));
  }
  result.six_nodes = spread(cluster, input.keys_max);
  result.reads_missed = cluster.reads_missed();
  return result;
}

}  // namespace cleave::rehearse
