// The simulated pool in virtual time: a workload asks, the real recorder and ledger count, a policy
// (the real planner, or another system's rules) decides, and real edits of the ring document carry
// it out; only what takes time in a move is modelled (rehearse/transfers.h).
//
//   each step   scene -> requests -> reports -> ledger; moves under way get on
//   each tick   (2 s) ledger -> policy -> moves, cuts and merges begin
//
// Deterministic: the same options, the same run. Threads: any; one run, one thread. Cost: a few
// milliseconds for each virtual second with 16 nodes and 40,000 keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "balance/input/constants.h"
#include "balance/plan/plan.h"
#include "base/result.h"
#include "rehearse/record.h"
#include "rehearse/summary.h"
#include "rehearse/workloads/truth.h"
#include "rehearse/workloads/workload.h"

namespace cleave::rehearse {

// What is simulated, and how finely.
struct Options {
  std::string workload = "uniform";
  std::string policy = "cleave";
  Setting setting = {};
  Truth::Options truth = {};
  std::size_t routers = 1;
  std::uint32_t draws_max = 50'000;      // requests drawn in a step; fewer are faster, and noise
  std::optional<seconds> duration = {};  // nullopt: what the workload wants
  balance::Constants constants = {};
};

// What came of it.
struct Run {
  Record record = {};
  Summary summary = {};
  // What the policy said at its last tick.
  std::vector<balance::Verdict> verdicts = {};
  std::string advice = {};
};

// Errors: kInvalid for a workload or policy that there is not, or a setting that cannot be.
Result<Run> run(const Options& options);

// The same with a workload that is not known by name, such as a trace; Options::workload is only
// what the record calls it.
Result<Run> run(const Options& options, std::unique_ptr<Workload> workload);

}  // namespace cleave::rehearse
