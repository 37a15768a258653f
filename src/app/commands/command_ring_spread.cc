#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include "app/commands/ring_commands.h"
#include "app/text/table.h"
#include "draw/ring_charts.h"
#include "rehearse/scenes/chi_square.h"
#include "ring/placed/key_spread.h"
#include "ring/placed/placement_shares.h"

namespace cleave::app {
namespace {

struct SpreadRingOptions {
  RingArguments ring;
  KeyArguments keys;
  PictureFiles pictures;
};

// Where the keys fell, and where they would have by the weights and by the arcs.
struct RingSpread {
  PlacedRing placed;
  ring::KeySpread keys;
  std::vector<double> by_weight;
  std::vector<double> by_arcs;
  rehearse::ChiSquare weight_test;
  rehearse::ChiSquare arcs_test;

  double peak() const {
    double highest = 0;
    for (std::size_t i = 0; i < by_weight.size(); ++i) {
      highest = std::max(highest, static_cast<double>(keys.counts[i]) / by_weight[i]);
    }
    return highest;
  }
};

// A node without arcs can get no key, and no test says anything about it.
rehearse::ChiSquare test_of_arcs(const RingSpread& spread) {
  std::vector<std::uint64_t> counts;
  std::vector<double> expected;
  for (std::size_t i = 0; i < spread.by_arcs.size(); ++i) {
    if (spread.by_arcs[i] <= 0) continue;
    counts.push_back(spread.keys.counts[i]);
    expected.push_back(spread.by_arcs[i]);
  }
  return rehearse::chi_square(counts, expected);
}

Result<RingSpread> spread_keys(const SpreadRingOptions& given) {
  auto placed = place_ring(given.ring);
  if (!placed) return std::unexpected(placed.error());
  const auto keys = keys_of(given.keys);
  if (!keys) return std::unexpected(keys.error());
  RingSpread spread;
  spread.placed = std::move(*placed);
  spread.keys = ring::spread_of(spread.placed.side(), *keys);
  if (spread.keys.placed == 0) return fail(Code::kInvalid, "none of the keys has a place");
  const auto count = static_cast<double>(spread.keys.placed);
  for (const ring::NodeShare& each : ring::node_shares(spread.placed.side())) {
    spread.by_weight.push_back(count * share_of(each.wanted, ring::kAllTokens));
    spread.by_arcs.push_back(count * share_of(each.owned, ring::kAllTokens));
  }
  spread.weight_test = rehearse::chi_square(spread.keys.counts, spread.by_weight);
  spread.arcs_test = test_of_arcs(spread);
  return spread;
}

std::string test_text(const rehearse::ChiSquare& test) {
  return "chi-square " + two_decimals(test.value) + " with " + grouped(test.degrees) +
         " degrees of freedom: " + two_decimals(test.sigma) + " sigma from chance";
}

void print_spread(const RingSpread& spread) {
  Table table({"node", "weight", "keys", "by weight", "by arcs", "keys/by weight", ""});
  const std::uint64_t most = std::ranges::max(spread.keys.counts);
  const auto whole = [](double number) {
    return grouped(static_cast<std::uint64_t>(std::llround(number)));
  };
  for (std::size_t i = 0; i < spread.keys.counts.size(); ++i) {
    const std::uint64_t count = spread.keys.counts[i];
    table.add({spread.placed.nodes[i].name, std::to_string(spread.placed.nodes[i].weight),
               grouped(count), whole(spread.by_weight[i]), whole(spread.by_arcs[i]),
               two_decimals(static_cast<double>(count) / spread.by_weight[i]),
               bar(count, most, 30)});
  }
  std::cout << scheme_text(spread.placed.spec) << ", " << grouped(spread.keys.placed) << " keys\n\n"
            << table.text() << "\nhighest keys/by weight: " << two_decimals(spread.peak())
            << "\nagainst the weights: " << test_text(spread.weight_test)
            << "\nagainst the arcs:    " << test_text(spread.arcs_test) << "\n";
  if (spread.keys.unplaced > 0) {
    std::cout << grouped(spread.keys.unplaced) << " keys have no place by this scheme\n";
  }
}

Json spread_json(const RingSpread& spread) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < spread.keys.counts.size(); ++i) {
    nodes.push_back({{"name", spread.placed.nodes[i].name},
                     {"weight", spread.placed.nodes[i].weight},
                     {"keys", spread.keys.counts[i]},
                     {"by_weight", spread.by_weight[i]},
                     {"by_arcs", spread.by_arcs[i]}});
  }
  const auto test_json = [](const rehearse::ChiSquare& test) {
    return Json{{"chi_square", test.value}, {"degrees", test.degrees}, {"sigma", test.sigma}};
  };
  return {{"scheme", spread.placed.spec.name},
          {"options", spread.placed.spec.options},
          {"keys", spread.keys.placed},
          {"unplaced", spread.keys.unplaced},
          {"nodes", std::move(nodes)},
          {"peak_over_wanted", spread.peak()},
          {"against_weights", test_json(spread.weight_test)},
          {"against_arcs", test_json(spread.arcs_test)}};
}

Result<void> draw_keys(const SpreadRingOptions& given, const RingSpread& spread) {
  draw::SpreadChart chart{.title = "How keys spread: " + scheme_text(spread.placed.spec),
                          .subtitle = grouped(spread.keys.placed) +
                                      " keys; beside chance, the arcs of the ring decide.",
                          .nodes = {}};
  for (std::size_t i = 0; i < spread.keys.counts.size(); ++i) {
    chart.nodes.push_back({spread.placed.nodes[i].name, static_cast<double>(spread.keys.counts[i]),
                           spread.by_weight[i]});
  }
  return write_pictures(given.pictures, chart.title,
                        [&](draw::Canvas& canvas) { draw::draw_spread(canvas, chart); });
}

int spread_ring(const Cli& cli, const SpreadRingOptions& given) {
  const auto spread = spread_keys(given);
  if (!spread) return cli.fail(kExitUsage, spread.error());
  if (auto drawn = draw_keys(given, *spread); !drawn) return cli.fail(kExitFailed, drawn.error());
  if (cli.json()) {
    Cli::print_json(spread_json(*spread));
  } else {
    print_spread(*spread);
  }
  return kExitOk;
}

}  // namespace

void add_ring_spread(Cli& cli, CLI::App& group) {
  const auto given = std::make_shared<SpreadRingOptions>();
  CLI::App& command = cli.add(group,
                              {.name = "spread",
                               .description = "how evenly keys fall over the nodes",
                               .example = "cleave ring spread --node a --node b --sample 100000"},
                              [&cli, given] { return spread_ring(cli, *given); });
  add_ring_arguments(command, given->ring);
  add_key_arguments(command, given->keys);
  add_picture_files(command, given->pictures);
}

}  // namespace cleave::app
