// The row of one scheme in the table of schemes. For the files of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "ring/arc_table.h"
#include "ring/schemes/circle.h"
#include "ring/schemes/key_to_token.h"
#include "ring/schemes/option_reader.h"
#include "ring/schemes/placement.h"

namespace cleave::ring {

// A circle on which the points of a node depend on that node alone: nodes can come and go without
// changing anybody else's.
struct NodeCircle {
  // Puts the points of the node, which is NodeId{index + 1}, at the end.
  std::function<void(const PlacedNode& node, std::uint32_t index, std::vector<CirclePoint>& points)>
      add_points;
  std::uint64_t points_per_weight = 0;
  CircleRules rules = {};
};

// What a scheme makes of its options and the nodes; the parts of a Placement.
struct Layout {
  KeyToToken token_of;
  // No arcs: the scheme has no point for any of these nodes, or refused them.
  std::variant<ArcTable, NodeCircle> owners;
  Tokens tokens = Tokens::kFixed;
};

// Reads the options and checks the nodes. Errors: as `place`, but for too few points.
Result<Layout> lay_out(const SchemeSpec& spec, std::span<const PlacedNode> nodes);

// The points of all nodes, sorted as `circle_arcs` wants them.
std::vector<CirclePoint> sorted_points(const NodeCircle& circle, std::span<const PlacedNode> nodes);

// Errors: kInvalid when there are no arcs: a weight so small beside the others that no node gets a
// point.
Result<std::shared_ptr<const Placement>> make_placement(const SchemeSpec& spec, Layout layout,
                                                        ArcTable arcs);

// What `place` makes of the layout of the nodes.
Result<std::shared_ptr<const Placement>> place_layout(const SchemeSpec& spec, Layout layout,
                                                      std::span<const PlacedNode> nodes);

struct SchemeRow {
  SchemeText text;
  // Reads its options from the reader and reports there what it refuses; then the layout does not
  // matter. Requires: at least one node, weights in 1..kPlacedWeightMax, names unique.
  Layout (*build)(OptionReader& options, std::span<const PlacedNode> nodes);
};

// One function a file of kin.
std::vector<SchemeRow> native_schemes();         // vnode, murmur64a-vnode, java-vnode, modulo
std::vector<SchemeRow> twemproxy_schemes();      // -ketama, -modula
std::vector<SchemeRow> libmemcached_schemes();   // -ketama, -ketama-weighted, -spy, -modula
std::vector<SchemeRow> ketama_client_schemes();  // spymemcached, uhashring, npm-hashring
std::vector<SchemeRow> jedis_schemes();
std::vector<SchemeRow> nginx_schemes();
std::vector<SchemeRow> haproxy_schemes();
std::vector<SchemeRow> envoy_schemes();   // -ring, -maglev, -redis
std::vector<SchemeRow> slot_schemes();    // redis-cluster, codis, cassandra
std::vector<SchemeRow> direct_schemes();  // jump, guava, go-redis, pymemcache

}  // namespace cleave::ring
