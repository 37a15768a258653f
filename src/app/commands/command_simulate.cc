#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/commands.h"
#include "app/commands/trace_file.h"
#include "app/text/simulate_json.h"
#include "app/text/table.h"
#include "balance/explain.h"
#include "balance/input/named_constants.h"
#include "base/to_number.h"
#include "draw/pictures.h"
#include "rehearse/engine.h"
#include "rehearse/workloads/trace_workload.h"

namespace cleave::app {
namespace {

struct SimulateOptions {
  rehearse::Options run;
  double read_share = 0.95;
  std::uint64_t seconds = 0;
  std::uint32_t twitter = 0;
  std::vector<std::string> set;
  std::string trace;
  std::string monitor;
  std::string record;
  std::string pictures;
};

// "name=value" of each --set.
Result<void> set_constants(const std::vector<std::string>& settings,
                           balance::Constants& constants) {
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    const std::string digits = equals == std::string::npos ? "" : setting.substr(equals + 1);
    const auto value = to_number<std::uint64_t>(digits);
    if (!value) return fail(Code::kInvalid, "--set: want constant=number, got '" + setting + "'");
    if (auto done = balance::set_constant(constants, setting.substr(0, equals), *value); !done)
      return done;
  }
  return {};
}

std::string after(const std::optional<std::uint64_t>& time) {
  return time ? "after " + std::to_string(*time) + " s" : "never, or there was nothing to do";
}

void print_nodes(const rehearse::Record& record) {
  const rehearse::Moment& first = record.moments.front();
  const rehearse::Moment& last = record.moments.back();
  const std::uint64_t most = std::max(*std::ranges::max_element(first.node_load),
                                      *std::ranges::max_element(last.node_load));
  Table table({"node", "ms/s before", "after", ""});
  for (std::size_t node = 0; node < record.nodes.size(); ++node) {
    table.add({record.nodes[node].name, grouped(first.node_load[node] / 1'000'000),
               grouped(last.node_load[node] / 1'000'000), bar(last.node_load[node], most, 30)});
  }
  std::cout << table.text();
}

constexpr std::size_t kMovesShown = 20;

void print_moves(const rehearse::Record& record) {
  for (std::size_t at = 0; at < std::min(record.moves.size(), kMovesShown); ++at) {
    const rehearse::RecordedMove& move = record.moves[at];
    std::cout << "  " << move.began.count() << " s, " << (move.committed ? "done" : "not done")
              << " at " << move.ended.count() << " s: " << grouped(move.keys) << " keys. "
              << move.reason << "\n";
  }
  if (record.moves.size() > kMovesShown)
    std::cout << "  ... and " << record.moves.size() - kMovesShown << " more\n";
}

void print(const rehearse::MemorySummary& memory) {
  std::cout << "fullest node over the mean: " << two_decimals(memory.peak_over_mean_start)
            << " at the start, " << two_decimals(memory.peak_over_mean)
            << " at the end; no placement is below " << two_decimals(memory.lower_bound)
            << "\nmoved " << grouped(memory.bytes_moved) << " bytes (at least "
            << grouped(memory.bytes_moved_bound) << " had to), level "
            << after(memory.seconds_to_converge) << "\n";
}

void print(const rehearse::Run& run) {
  const rehearse::Summary& summary = run.summary;
  std::cout << "workload " << run.record.workload << ", policy " << run.record.policy << ", seed "
            << run.record.seed << "\n\n";
  print_nodes(run.record);
  std::cout << "\nhottest node over the mean: " << two_decimals(summary.peak_over_mean_start)
            << " at the start, " << two_decimals(summary.peak_over_mean)
            << " at the end; no placement is below " << two_decimals(summary.lower_bound) << "\n"
            << "noticed " << after(summary.seconds_to_detect) << ", level "
            << after(summary.seconds_to_converge) << "\n"
            << "moved " << grouped(summary.keys_moved) << " keys (at least "
            << grouped(summary.keys_moved_bound) << " had to) in " << summary.moves
            << " moves; load moved over the least: " << two_decimals(summary.load_moved_over_bound)
            << "\ncuts " << summary.cuts << ", merges " << summary.merges << ", oscillations "
            << summary.oscillations << ", ranges " << grouped(summary.ranges) << "\n";
  if (summary.memory) print(*summary.memory);
  if (!run.record.moves.empty()) std::cout << "\nmoves\n";
  print_moves(run.record);
  if (!run.verdicts.empty() || !run.advice.empty()) std::cout << "\nwhat could not be helped\n";
  for (const balance::Verdict& verdict : run.verdicts) {
    std::cout << "  " << to_string(verdict.why) << ": " << verdict.text << "\n";
  }
  if (!run.advice.empty()) std::cout << "  advice: " << run.advice << "\n";
}

// The trace that is named, on as many equal nodes as are asked for.
Result<rehearse::Run> run_trace(SimulateOptions& options) {
  auto trace = read_trace_file(options.trace, options.monitor);
  if (!trace) return std::unexpected(trace.error());
  options.run.workload = options.trace.empty() ? "monitor" : "trace";
  options.run.setting.keys = trace->keys.size();
  options.run.setting.read_ppm = rehearse::read_ppm(*trace);
  auto workload = rehearse::make_trace_workload(
      std::move(*trace), {.nodes = rehearse::equal_nodes(options.run.setting.nodes)});
  if (!workload) return std::unexpected(workload.error());
  return rehearse::run(options.run, std::move(*workload));
}

int run_simulation(const Cli& cli, SimulateOptions& options) {
  if (options.twitter > 0) options.run.workload = "twitter:" + std::to_string(options.twitter);
  options.run.truth.cold.bytes_each = options.run.setting.bytes;
  options.run.setting.read_ppm = static_cast<std::uint32_t>(options.read_share * 1e6 + 0.5);
  if (options.seconds > 0) options.run.duration = std::chrono::seconds{options.seconds};
  if (const auto set = set_constants(options.set, options.run.constants); !set)
    return cli.fail(kExitUsage, set.error());
  const bool traced = !options.trace.empty() || !options.monitor.empty();
  const Result<rehearse::Run> run = traced ? run_trace(options) : rehearse::run(options.run);
  if (!run) return cli.fail(kExitUsage, run.error());
  if (!options.record.empty()) {
    std::ofstream file(options.record, std::ios::binary | std::ios::trunc);
    file << record_json(run->record).dump() << "\n";
    if (!file.flush())
      return cli.fail(kExitFailed,
                      {Code::kUnavailable, "--record: cannot write '" + options.record + "'"});
  }
  if (!options.pictures.empty()) {
    if (const auto drawn = draw::draw_all(run->record, options.pictures); !drawn)
      return cli.fail(kExitFailed, drawn.error());
  }
  if (cli.json()) {
    Cli::print_json(summary_json(run->summary));
  } else {
    print(*run);
  }
  return kExitOk;
}

std::string describe_workloads() {
  std::string text = "Workloads:\n";
  for (const std::string& line : rehearse::workload_names()) text += "  " + line + "\n";
  return text;
}

void add_size_options(CLI::App& command, SimulateOptions& options) {
  rehearse::Options& run = options.run;
  command.add_option("--nodes", run.setting.nodes)
      ->check(CLI::Range(1, 20'000))
      ->capture_default_str();
  command.add_option("--keys", run.setting.keys, "that somebody asks for")
      ->check(CLI::Range(1, 20'000'000))
      ->capture_default_str();
  command.add_option("--bytes", run.setting.bytes, "of a key with its value")
      ->check(CLI::Range(1, 1 << 30))
      ->capture_default_str();
  command.add_option("--cold", run.truth.cold.count, "keys besides, that nobody asks for")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40U))
      ->capture_default_str();
  command.add_option("--seed", run.setting.seed)->capture_default_str();
  command.add_option("--seconds", options.seconds, "of virtual time; 0 = as the workload needs")
      ->check(CLI::Range(0, 7 * 86'400))
      ->capture_default_str();
}

}  // namespace

void add_simulate(Cli& cli) {
  const auto options = std::make_shared<SimulateOptions>();
  CLI::App& command =
      cli.add(cli.root(),
              {.name = "simulate",
               .description = "what a policy would do with a workload, in virtual time",
               .example = "cleave simulate --workload zipf:0.99 --nodes 16 --keys 40000 --seed 1"},
              [&cli, options] { return run_simulation(cli, *options); });
  command.footer(command.get_footer() + "\n\n" + describe_workloads());
  rehearse::Options& run = options->run;
  CLI::Option_group* asked = command.add_option_group("workload");
  asked->add_option("--workload", run.workload, "one of the names below");
  asked->add_option("--twitter", options->twitter, "row of Twitter's table: twitter:N")
      ->check(CLI::Range(1, 54));
  asked->add_option("--trace", options->trace, "CSV file: time,key,op,bytes");
  asked->add_option("--monitor", options->monitor, "file with the output of redis-cli monitor");
  asked->require_option(1);
  command.add_option("--policy", run.policy, "cleave, static, halve, cockroach, pd or dicer")
      ->capture_default_str();
  add_size_options(command, *options);
  command
      .add_option("--cache", run.truth.cached_keys,
                  "the so many hottest keys are read from the routers")
      ->capture_default_str();
  command.add_option("--read-share", options->read_share, "of the requests, 0 to 1")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--routers", run.routers, "that count the heat")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command.add_option("--set", options->set, "constant=value of the balancer; may be repeated");
  command.add_option("--record", options->record, "write all of the run as JSON to this file");
  command.add_option("--pictures", options->pictures,
                     "draw loads, heat and peak into this directory, as SVG and PNG");
}

}  // namespace cleave::app
