#include "ring/schemes/peers/token_owners.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/to_number.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/peers/owner_lists.h"

namespace cleave::ring {
namespace {

constexpr OwnerLists kTokens{.option = "tokens", .form = "NODE=TOKEN,TOKEN;NODE=..."};

struct OwnedToken {
  std::int64_t token;
  std::string_view node;
};

std::vector<OwnedToken> read_tokens(OptionReader& options) {
  std::vector<OwnedToken> owned;
  read_owner_lists(options, kTokens, [&](std::string_view item, std::string_view node) {
    if (const auto token = to_number<std::int64_t>(item)) return owned.push_back({*token, node});
    options.refuse_value(
        kTokens.option, item,
        "want tokens from " + std::to_string(INT64_MIN) + " to " + std::to_string(INT64_MAX));
  });
  std::ranges::stable_sort(owned, {}, &OwnedToken::token);
  return owned;
}

// Requires: sorted.
void refuse_twice(OptionReader& options, std::span<const OwnedToken> owned) {
  const auto twice = std::ranges::adjacent_find(owned, {}, &OwnedToken::token);
  if (twice == owned.end()) return;
  const std::string token = std::to_string(twice->token);
  options.refuse_value(kTokens.option, token,
                       given_twice("this token", twice->node, std::next(twice)->node));
}

void refuse_bare(OptionReader& options, std::span<const CirclePoint> points,
                 std::span<const PlacedNode> nodes) {
  std::vector<bool> has(nodes.size());
  for (const CirclePoint& point : points) {
    CHECK(point.node < has.size());
    has[point.node] = true;
  }
  const auto bare = std::ranges::find(has, false);
  if (bare == has.end()) return;
  const std::string& name = nodes[static_cast<std::size_t>(bare - has.begin())].name;
  options.refuse(Code::kInvalid, "option tokens: node '" + name + "' has no token");
}

}  // namespace

std::vector<CirclePoint> token_points(OptionReader& options, std::span<const PlacedNode> nodes) {
  refuse_weights(options, nodes);
  const std::vector<OwnedToken> owned = read_tokens(options);
  if (!options.fits(owned.size())) return {};
  refuse_twice(options, owned);
  std::map<std::string_view, std::uint32_t> indexes;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) indexes.emplace(nodes[i].name, i);
  std::vector<CirclePoint> points;
  points.reserve(owned.size());
  for (const OwnedToken& each : owned) {
    const auto known = indexes.find(each.node);
    if (known == indexes.end()) continue;
    points.push_back({unsigned_order(static_cast<std::uint64_t>(each.token)), known->second});
  }
  refuse_bare(options, points, nodes);
  return points;
}

}  // namespace cleave::ring
