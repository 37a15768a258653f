// cleave-sim: runs the product's own router and control code in simulated worlds.
//
//   cleave-sim --seed S [--log] [--trace]     one world; prints its trace hash
//   cleave-sim --seeds N [--first K]          seeds K .. K+N-1; exit code 1 on any violation
//   cleave-sim --mutant NAME --seeds N        with one rule of the protocol switched off
//   cleave-sim --mutants [--seeds N]          every rule in turn (or --mutant NAME): is each caught
//                                             by one of 2 N seeds? Prints a line for each
//
// The seeds that once failed (sim/seeds.txt, or --seeds-file) are always run first. Several
// processes share many seeds by windows of their own: `--first 1 --seeds 10000`, `--first 10001`.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "sim/world/in_child.h"
#include "sim/world/mutants.h"
#include "sim/world/world.h"

namespace {

using cleave::sim::ChildSaid;
using cleave::sim::in_child;
using cleave::sim::Mutant;
using cleave::sim::Report;
using cleave::sim::World;

constexpr std::uint64_t kSeeds = 200;
constexpr std::uint64_t kMutantSeeds = 60;

struct Arguments {
  std::uint64_t seed = 0;
  bool one_seed = false;
  std::uint64_t seeds = 0;  // 0: kSeeds, or of mutants kMutantSeeds
  std::uint64_t first = 1;
  std::string mutant;
  bool all_mutants = false;
  bool log = false;
  bool trace = false;
  std::string seeds_file = "sim/seeds.txt";
};

bool parse_number(std::string_view text, std::uint64_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc{} && end == text.data() + text.size();
}

bool parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    bool taken = true;  // the value
    if (name == "--seed") {
      arguments.one_seed = true;
      if (!parse_number(value, arguments.seed)) return false;
    } else if (name == "--seeds") {
      if (!parse_number(value, arguments.seeds)) return false;
    } else if (name == "--first" || name == "--from") {
      if (!parse_number(value, arguments.first)) return false;
    } else if (name == "--mutant") {
      arguments.mutant = value;
    } else if (name == "--seeds-file") {
      arguments.seeds_file = value;
    } else {
      taken = false;
      if (name == "--mutants") {
        arguments.all_mutants = true;
      } else if (name == "--log") {
        arguments.log = true;
      } else if (name == "--trace") {
        arguments.trace = true;
      } else {
        return false;
      }
    }
    if (taken) ++i;
  }
  return true;
}

// The numbers at the beginning of the lines of the file; '#' begins a comment.
std::vector<std::uint64_t> kept_seeds(const std::string& path) {
  std::vector<std::uint64_t> seeds;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::uint64_t seed = 0;
    if (parse_number(line.substr(0, line.find_first_of(" #")), seed)) seeds.push_back(seed);
  }
  return seeds;
}

std::vector<std::uint64_t> seeds_of(const Arguments& arguments) {
  std::vector<std::uint64_t> seeds = kept_seeds(arguments.seeds_file);
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) seeds.push_back(arguments.first + i);
  return seeds;
}

Report run(std::uint64_t seed, const Mutant* mutant, const Arguments& arguments) {
  std::ostream* log = arguments.log ? &std::cerr : nullptr;
  const auto profile = mutant == nullptr ? cleave::sim::make_profile(seed) : mutant->profile(seed);
  World world(seed, profile, mutant == nullptr ? cleave::Mutations{} : mutant->mutations(), log);
  if (arguments.trace) world.set_trace(&std::cerr);
  return world.run();
}

void print_violations(const Report& report) {
  for (const std::string& violation : report.violations)
    std::cout << "seed " << report.seed << " VIOLATION " << violation << '\n';
}

int run_many(const Arguments& arguments, const Mutant* mutant) {
  std::uint64_t committed = 0;
  std::uint64_t aborted = 0;
  std::uint64_t operations = 0;
  std::uint64_t faults = 0;
  std::uint64_t virtual_seconds = 0;
  std::uint64_t violations = 0;
  std::string traces;
  const std::vector<std::uint64_t> seeds = seeds_of(arguments);
  for (const std::uint64_t seed : seeds) {
    const Report report = run(seed, mutant, arguments);
    committed += report.committed;
    aborted += report.aborted;
    operations += report.operations;
    faults += report.faults;
    virtual_seconds += report.virtual_seconds;
    traces += std::to_string(report.trace_hash) + ' ';
    violations += report.violations.size();
    if (!report.violations.empty()) std::cout << to_line(report) << '\n';
    print_violations(report);
    std::cout.flush();
  }
  std::cout << "seeds " << seeds.size() << ", virtual seconds " << virtual_seconds << ", ops "
            << operations << ", moves committed " << committed << ", aborted " << aborted
            << ", faults injected " << faults << ", traces " << cleave::xxh3_64(traces)
            << ", violations " << violations << '\n';
  return violations == 0 ? 0 : 1;
}

// Worlds of the flavour that meets the rule, then of any.
std::vector<std::uint64_t> seeds_for(const Mutant& mutant, const Arguments& arguments) {
  std::vector<std::uint64_t> seeds;
  const auto flavour = static_cast<std::uint64_t>(mutant.met_in);
  for (std::uint64_t i = 0; i < arguments.seeds; ++i) {
    seeds.push_back((arguments.first + i) * cleave::sim::kFlavours + flavour);
    seeds.push_back(arguments.first + i);
  }
  return seeds;
}

// True when some seed shows a violation.
bool catches(const Mutant& mutant, const Arguments& arguments) {
  for (const std::uint64_t seed : seeds_for(mutant, arguments)) {
    const Report report = run(seed, &mutant, arguments);
    // A search that was given up proves nothing.
    const auto proof = std::ranges::find_if(report.violations, [&](const std::string& violation) {
      return violation.find("gave up") == std::string::npos && violation.starts_with(mutant.told);
    });
    if (proof == report.violations.end()) continue;
    std::cout << "caught      rule " << mutant.rule << " " << mutant.name << " by seed " << seed
              << ": " << proof->substr(0, 120) << '\n';
    std::cout.flush();
    return true;
  }
  std::cout << "NOT CAUGHT  rule " << mutant.rule << " " << mutant.name << '\n';
  std::cout.flush();
  return false;
}

int run_mutants(const Arguments& arguments) {
  std::size_t tried = 0;
  std::size_t caught = 0;
  for (const Mutant& mutant : cleave::sim::all_mutants()) {
    if (!arguments.mutant.empty() && mutant.name != arguments.mutant) continue;
    ++tried;
    const ChildSaid said = in_child([&] { return catches(mutant, arguments); });
    caught += said == ChildSaid::kNo ? 0U : 1U;
    if (said != ChildSaid::kChecked) continue;
    std::cout << "caught      rule " << mutant.rule << " " << mutant.name << " by a CHECK\n";
    std::cout.flush();
  }
  std::cout << "mutants " << tried << ", caught " << caught << '\n';
  return caught == tried ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments)) {
    std::cerr << "usage: cleave-sim --seed S [--log] [--trace] | --seeds N [--first K] |\n"
                 "       --mutants [--seeds N]; each with [--mutant NAME] [--seeds-file PATH]\n";
    return 2;
  }
  if (arguments.seeds == 0) arguments.seeds = arguments.all_mutants ? kMutantSeeds : kSeeds;
  if (arguments.all_mutants) return run_mutants(arguments);
  const Mutant* mutant = nullptr;
  if (!arguments.mutant.empty()) {
    mutant = cleave::sim::find_mutant(arguments.mutant);
    if (mutant == nullptr) {
      std::cerr << "unknown mutant '" << arguments.mutant << "'; there are:\n";
      for (const Mutant& known : cleave::sim::all_mutants())
        std::cerr << "  " << known.name << " (rule " << known.rule << ")\n";
      return 2;
    }
  }
  if (!arguments.one_seed) return run_many(arguments, mutant);
  const Report report = run(arguments.seed, mutant, arguments);
  print_violations(report);
  std::cout << to_line(report) << '\n';
  return report.violations.empty() ? 0 : 1;
}
