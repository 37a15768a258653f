#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/demo_commands.h"
#include "app/demo/demo_adopt.h"
#include "app/demo/demo_scenarios.h"

namespace cleave::app {
namespace {

// One of demo_scenarios.h, or demo_adopt.h. What comes out has `good`, `to_text` and
// `to_json`.
template <class Outcome>
using LiveDemo = Result<Outcome> (*)(const DemoOptions&);

template <class Outcome>
int run_live(const Cli& cli, LiveDemo<Outcome> demo, const DemoOptions& options) {
  const Result<Outcome> result = demo(options);
  if (!result) return cli.fail(kExitFailed, result.error());
  // The story is for people; with --json it goes to standard error.
  (cli.json() ? std::cerr : std::cout) << to_text(*result);
  if (cli.json()) Cli::print_json(to_json(*result));
  return result->good() ? kExitOk : kExitFailed;
}

template <class Outcome>
void add_live(Cli& cli, CLI::App& group, const CommandText& words, LiveDemo<Outcome> demo,
              const DemoOptions& defaults) {
  const auto options = std::make_shared<DemoOptions>(defaults);
  CLI::App& command =
      cli.add(group, words, [&cli, demo, options] { return run_live(cli, demo, *options); });
  command.add_option("--seconds", options->seconds, "of load, at most")
      ->check(CLI::Range(5, 3'600))
      ->capture_default_str();
  command.add_option("--nodes", options->nodes, "how many redis-servers")
      ->check(CLI::Range(2, 16))
      ->capture_default_str();
  command.add_option("--keys", options->keys, "how many different keys")
      ->check(CLI::Range(100, 10'000'000))
      ->capture_default_str();
  command.add_option("--clients", options->clients, "connections")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_option("--rate", options->rate, "requests a second; 0 = as fast as answered")
      ->capture_default_str();
  command.add_option("--seed", options->seed, "of keys, load and choices")->capture_default_str();
  command.add_flag("--verbose", options->verbose, "the router's log on standard error");
}

}  // namespace

void add_demo(Cli& cli) {
  CLI::App& group = cli.add_group("demo", "demonstrations, each on its own servers or none");
  add_live(cli, group,
           {.name = "hot",
            .description = "a hot set on one of several real servers is found, cut and moved live",
            .example = "cleave demo hot --nodes 4 --keys 100000"},
           demo_hot, {});
  add_live(cli, group,
           {.name = "scale-out",
            .description = "one more real server joins under load and is filled to its share",
            .example = "cleave demo scale-out --nodes 4 --keys 100000"},
           demo_scale_out, {.seconds = 120});
  add_live(cli, group,
           {.name = "memory",
            .description = "one tenant fills one real server; bytes are moved until all are even",
            .example = "cleave demo memory --nodes 4 --keys 100000"},
           demo_memory, {.seconds = 240});
  add_live(cli, group,
           {.name = "adopt",
            .description = "a real twemproxy is replaced by cleave under load, and replaced back",
            .example = "cleave demo adopt --nodes 4 --keys 100000"},
           demo_adopt, {.seconds = 15});
  add_demo_auto_split(cli, group);
  add_demo_churn(cli, group);
}

}  // namespace cleave::app
