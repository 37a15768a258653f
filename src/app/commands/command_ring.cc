#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/ring_commands.h"
#include "app/text/shown_ring.h"
#include "app/text/table.h"
#include "draw/picture_file.h"
#include "draw/ring_charts.h"
#include "ring/placed/placement_shares.h"

namespace cleave::app {
namespace {

struct ShowRingOptions {
  RingArguments ring;
  PictureFiles pictures;
};

std::string times_text(std::uint64_t ppm) {
  return two_decimals(static_cast<double>(ppm) / 1'000'000);
}

void print_shares(const ShownRing& shown) {
  Table table({"node", "weight", "arcs", "share", "wanted", "share/wanted", ""});
  Wide most = 0;
  for (const ring::NodeShare& each : shown.shares) most = std::max(most, each.owned);
  for (std::size_t i = 0; i < shown.shares.size(); ++i) {
    const ring::NodeShare& each = shown.shares[i];
    const std::uint64_t owned = ring::ppm_of_all(each.owned);
    table.add({shown.nodes[i].name, std::to_string(shown.nodes[i].weight), grouped(each.arcs),
               percent(owned), percent(ring::ppm_of_all(each.wanted)), times_text(each.load_ppm()),
               bar(owned, ring::ppm_of_all(most), 30)});
  }
  std::cout << scheme_text(shown.spec) << "\n\n"
            << table.text()
            << "\nhighest share/wanted: " << times_text(ring::peak_ppm(shown.shares)) << "\n";
}

Json shares_json(const ShownRing& shown) {
  Json nodes = Json::array();
  for (std::size_t i = 0; i < shown.shares.size(); ++i) {
    const ring::NodeShare& each = shown.shares[i];
    nodes.push_back({{"name", shown.nodes[i].name},
                     {"weight", shown.nodes[i].weight},
                     {"arcs", each.arcs},
                     {"share", share_of(each.owned, ring::kAllTokens)},
                     {"wanted", share_of(each.wanted, ring::kAllTokens)}});
  }
  return {{"scheme", shown.spec.name},
          {"options", shown.spec.options},
          {"nodes", std::move(nodes)},
          {"arcs", shown.arcs.size()},
          {"peak_over_wanted", static_cast<double>(ring::peak_ppm(shown.shares)) / 1e6}};
}

Result<void> draw_shares(const PictureFiles& files, const ShownRing& shown) {
  draw::OwnershipChart chart{.title = "Who owns the ring: " + scheme_text(shown.spec),
                             .nodes = {},
                             .arcs = shown.arcs,
                             .peak = static_cast<double>(ring::peak_ppm(shown.shares)) / 1e6};
  for (std::size_t i = 0; i < shown.shares.size(); ++i) {
    chart.nodes.push_back({shown.nodes[i].name, share_of(shown.shares[i].owned, ring::kAllTokens),
                           share_of(shown.shares[i].wanted, ring::kAllTokens)});
  }
  return write_pictures(files, chart.title,
                        [&](draw::Canvas& canvas) { draw::draw_ownership(canvas, chart); });
}

int tell_shares(const Cli& cli, const PictureFiles& files, const ShownRing& shown) {
  if (auto drawn = draw_shares(files, shown); !drawn) return cli.fail(kExitFailed, drawn.error());
  if (cli.json()) {
    Cli::print_json(shares_json(shown));
  } else {
    print_shares(shown);
  }
  return kExitOk;
}

int show_ring_of_router(const Cli& cli, const PictureFiles& files) {
  const AdminClient client = cli.client();
  const AdminClient::Answer status = client.get("/status");
  if (!status) return cli.show(status, {});
  const AdminClient::Answer ring = client.get("/ring");
  if (!ring) return cli.show(ring, {});
  const auto shown = shown_ring(*status, *ring);
  if (!shown) return cli.fail(kExitFailed, shown.error());
  return tell_shares(cli, files, *shown);
}

int show_ring(const Cli& cli, const ShowRingOptions& given) {
  if (given.ring.empty()) return show_ring_of_router(cli, given.pictures);
  const auto placed = place_ring(given.ring);
  if (!placed) return cli.fail(kExitUsage, placed.error());
  return tell_shares(cli, given.pictures, shown_ring(*placed));
}

CLI::Validator ends_with(const std::string& end) {
  return {[end](const std::string& path) {
            return path.ends_with(end) ? std::string() : "want a name that ends with " + end;
          },
          "FILE"};
}

}  // namespace

void add_ring_arguments(CLI::App& command, RingArguments& arguments) {
  CLI::Option* config =
      command
          .add_option("--config", arguments.config.path,
                      "the pool of this file, of cleave or of another proxy, without its cuts")
          ->type_name("FILE");
  add_pool_options(command, arguments.config);
  CLI::Option* node = command
                          .add_option("--node", arguments.nodes,
                                      "a node, NAME or NAME=WEIGHT; as many as there are")
                          ->allow_extra_args(false)
                          ->excludes(config);
  command.add_option("--scheme", arguments.scheme, "how keys are placed: `cleave locate --help`")
      ->capture_default_str()
      ->needs(node);
  command.add_option("--option", arguments.options, "an option of the scheme, name=value")
      ->allow_extra_args(false)
      ->needs(node);
}

void add_key_arguments(CLI::App& command, KeyArguments& arguments) {
  CLI::Option* file =
      command.add_option("--keys", arguments.file, "a file of keys, one a line, any bytes")
          ->type_name("FILE");
  command.add_option("--sample", arguments.sample, "so many generated keys")
      ->check(CLI::Range(std::uint64_t{1}, kSampleKeysMax))
      ->capture_default_str()
      ->excludes(file);
  command.add_option("--seed", arguments.seed, "of the generated keys")
      ->capture_default_str()
      ->excludes(file);
}

void add_picture_files(CLI::App& command, PictureFiles& files) {
  command.add_option("--svg", files.svg, "draw it into this file, NAME.svg")
      ->check(ends_with(".svg"));
  command.add_option("--png", files.png, "draw it into this file, NAME.png")
      ->check(ends_with(".png"));
}

Result<void> write_pictures(const PictureFiles& files, std::string_view title,
                            const std::function<void(draw::Canvas&)>& draw) {
  for (const std::string& file : {files.svg, files.png}) {
    if (file.empty()) continue;
    if (auto written = draw::write_picture(file, title, draw); !written) return written;
  }
  return {};
}

double share_of(Wide part, Wide whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

void add_ring_show(Cli& cli, CLI::App& group) {
  const auto given = std::make_shared<ShowRingOptions>();
  CLI::App& command = cli.add_remote(
      group,
      {.name = "show",
       .description = "how much each node owns beside its weight: in the running pool, or in the "
                      "ring that --node or --config names",
       .example = "cleave ring show --node a --node b=2 --svg ring.svg"},
      [&cli, given] { return show_ring(cli, *given); });
  add_ring_arguments(command, given->ring);
  add_picture_files(command, given->pictures);
}

void add_ring(Cli& cli) {
  CLI::App& group = cli.add_group(
      "ring", "look at rings: who owns what, and what a change moves; save one, give one back");
  add_ring_show(cli, group);
  add_ring_diff(cli, group);
  add_ring_spread(cli, group);
  add_ring_save(cli, group);
  add_ring_restore(cli, group);
}

}  // namespace cleave::app
