// `cleave demo churn`: a node joins, another leaves, shown three ways (rehearse/scenes/churn.h).
#include <iostream>
#include <string>

#include "app/cli.h"
#include "app/commands/demo_commands.h"
#include "app/text/table.h"
#include "rehearse/scenes/churn.h"

namespace cleave::app {
namespace {

Json to_json(const rehearse::ChurnStage& stage) {
  Json nodes = Json::object();
  for (const rehearse::ChurnNode& node : stage.nodes) nodes[node.name] = node.keys;
  return {{"name", stage.name}, {"nodes", std::move(nodes)}, {"keys_moved", stage.keys_moved}};
}

Json to_json(const rehearse::NaiveChurn& naive) {
  Json stages = Json::array();
  Json watched = Json::array();
  for (const rehearse::ChurnStage& stage : naive.stages) stages.push_back(to_json(stage));
  for (const rehearse::WatchedKey& key : naive.watched) {
    watched.push_back({{"key", key.key},
                       {"at_start", key.at_start},
                       {"after_join", key.after_join},
                       {"after_leave", key.after_leave}});
  }
  return {{"stages", std::move(stages)},
          {"watched", std::move(watched)},
          {"first_keys", naive.first_keys}};
}

// The naive ring's stages with another number of points a node: more points do not help it.
Json with_points(rehearse::ChurnInput input, std::uint32_t points) {
  input.naive_points = points;
  return to_json(rehearse::naive_churn(input))["stages"];
}

Json to_json(const rehearse::ModuloChurn& modulo) {
  return {{"keys", modulo.keys},
          {"moved_by_join", modulo.moved_by_join},
          {"moved_by_leave", modulo.moved_by_leave}};
}

Json to_json(const rehearse::CleaveChurn& ours) {
  Json stages = Json::array();
  for (const rehearse::CleaveChurnStage& stage : ours.stages) {
    Json json = to_json(stage.stage);
    Json shares = Json::object();
    for (const rehearse::ChurnNode& node : stage.stage.nodes) shares[node.name] = node.share_ppm;
    json["share_ppm"] = std::move(shares);
    json["moved_ppm"] = stage.moved_ppm;
    json["moved_least_ppm"] = stage.moved_least_ppm;
    json["moves"] = stage.moves;
    json["cuts"] = stage.cuts;
    stages.push_back(std::move(json));
  }
  return {{"stages", std::move(stages)}, {"reads_missed", ours.reads_missed}};
}

void tell(const rehearse::ChurnStage& stage) {
  std::cout << "  " << stage.name << ":";
  for (const rehearse::ChurnNode& node : stage.nodes) {
    std::cout << "  " << node.name << " " << grouped(node.keys);
  }
  std::cout << "  (" << grouped(stage.keys_moved) << " keys moved)\n";
}

int demo_churn(const Cli& cli) {
  const rehearse::ChurnInput input = rehearse::churn_input();
  const rehearse::NaiveChurn naive = rehearse::naive_churn(input);
  const rehearse::ModuloChurn modulo = rehearse::modulo_churn(input);
  const rehearse::CleaveChurn ours = rehearse::cleave_churn(input);
  if (cli.json()) {
    Json naive_json = to_json(naive);
    naive_json["stages_with_500_points"] = with_points(input, 500);
    naive_json["stages_with_3_points"] = with_points(input, 3);
    Cli::print_json(
        {{"naive", std::move(naive_json)}, {"modulo", to_json(modulo)}, {"cleave", to_json(ours)}});
  } else {
    std::cout << "The naive ring, " << grouped(input.keys.size()) << " keys\n";
    for (const rehearse::ChurnStage& stage : naive.stages) tell(stage);
    std::cout << "\nhash % N: " << grouped(modulo.moved_by_join) << " keys moved by the join, "
              << grouped(modulo.moved_by_leave) << " by the leave\n\ncleave\n";
    for (const rehearse::CleaveChurnStage& stage : ours.stages) {
      tell(stage.stage);
      std::cout << "    " << percent(stage.moved_ppm) << " of the ring moved; at least "
                << percent(stage.moved_least_ppm) << " had to\n";
    }
  }
  return ours.reads_missed == 0 ? kExitOk : kExitFailed;
}

}  // namespace

void add_demo_churn(Cli& cli, CLI::App& group) {
  cli.add(group,
          {.name = "churn",
           .description = "a node joins, another leaves: a naive ring, hash % N, and cleave",
           .example = "cleave demo churn"},
          [&cli] { return demo_churn(cli); });
}

}  // namespace cleave::app
