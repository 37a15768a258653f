// The layouts that most schemes share: circles, and a table. For the files of this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "ring/schemes/circle.h"
#include "ring/schemes/scheme_row.h"

namespace cleave::ring {

// Hash of a key; both must be callable from any thread.
using Hash32 = std::function<std::uint32_t(std::string_view)>;
using Hash64 = std::function<std::uint64_t(std::string_view)>;

// Keys at their hash on a circle of the width. Requires: rules of that width.
Layout circle_layout_32(Hash32 hash, std::vector<CirclePoint> points,
                        const CircleRules& rules = {});
Layout circle_layout_64(Hash64 hash, std::vector<CirclePoint> points,
                        const CircleRules& rules = {.width = CircleRules::Width::k64});

// Keys in entry hash mod size of the table. Requires: not empty.
Layout table_layout(Hash64 hash, std::span<const std::uint32_t> table, Tokens tokens);

// The same layout, but the empty key has no place: the peer spreads it round robin.
Layout without_empty_key(Layout layout);

// Where node `index` stands in the peer's list, from 0.
std::uint32_t position_of(std::span<const PlacedNode> nodes, std::uint32_t index);

std::uint64_t weight_sum(std::span<const PlacedNode> nodes);
bool all_of_weight_one(std::span<const PlacedNode> nodes);

// Every node as often as its weight, in order. Empty, and refused, when that is too much.
std::vector<std::uint32_t> weighted_table(OptionReader& options, std::span<const PlacedNode> nodes);

// Refuses weights other than 1, for peers that know none.
void refuse_weights(OptionReader& options, std::span<const PlacedNode> nodes);

}  // namespace cleave::ring
