#include "ring/schemes/layouts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ring/schemes/md5_token.h"
#include "ring/schemes/point_sort.h"

namespace cleave::ring {

KeyToToken key_token_32(KeyHash32 hash) {
  if (hash == md5_32) return Md5Token<token_of_first_word>{};
  return key_token_32<KeyHash32>(hash);
}

Layout circle_layout(KeyToToken token_of, std::vector<CirclePoint> points,
                     const CircleRules& rules) {
  sort_points(points);
  return {.token_of = std::move(token_of), .owners = circle_arcs(points, rules)};
}

Layout table_layout(Hash64 hash, std::span<const std::uint32_t> table, Tokens tokens) {
  CHECK(!table.empty());
  return {.token_of = [hash = std::move(hash), size = table.size()](std::string_view key)
              -> std::optional<Token> { return segment_token({hash(key) % size, size}); },
          .owners = table_arcs(table),
          .tokens = tokens};
}

Layout without_empty_key(Layout layout) {
  layout.token_of = [inner =
                         std::move(layout.token_of)](std::string_view key) -> std::optional<Token> {
    if (key.empty()) return std::nullopt;
    return inner(key);
  };
  return layout;
}

std::uint32_t position_of(std::span<const PlacedNode> nodes, std::uint32_t index) {
  CHECK(index < nodes.size());
  return nodes[index].position.value_or(index);
}

std::uint64_t weight_sum(std::span<const PlacedNode> nodes) {
  std::uint64_t sum = 0;
  for (const PlacedNode& node : nodes) sum += node.weight;
  CHECK(sum >= nodes.size());  // no weight is 0: shares are parts of this sum
  return sum;
}

bool all_of_weight_one(std::span<const PlacedNode> nodes) {
  return std::ranges::all_of(nodes, [](const PlacedNode& node) { return node.weight == 1; });
}

std::vector<std::uint32_t> weighted_table(OptionReader& options,
                                          std::span<const PlacedNode> nodes) {
  std::vector<std::uint32_t> table;
  if (!options.fits(weight_sum(nodes))) return table;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) table.insert(table.end(), nodes[i].weight, i);
  return table;
}

void refuse_weights(OptionReader& options, std::span<const PlacedNode> nodes) {
  for (const PlacedNode& node : nodes) {
    if (node.weight == 1) continue;
    options.refuse(Code::kInvalid, "node '" + node.name + "' has weight " +
                                       std::to_string(node.weight) + ", but the peer has none");
    return;
  }
}

}  // namespace cleave::ring
