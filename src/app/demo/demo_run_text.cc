// How a live demonstration tells its result (app/demo/demo_run.h).
#include <cmath>

#include "app/demo/demo_run.h"
#include "app/text/load_json.h"
#include "app/text/table.h"

namespace cleave::app {
namespace {

constexpr std::uint32_t kBarWidth = 40;

double thousandths(double value) { return std::round(value * 1'000) / 1'000; }

std::string bars(const Spread& spread) {
  std::uint64_t total = 0;
  for (const auto& [node, amount] : spread.amounts) total += amount;
  Table table({"", "", "", ""});
  for (const auto& [node, amount] : spread.amounts) {
    const auto per_second =
        static_cast<std::uint64_t>(static_cast<double>(amount) / std::max(0.1, spread.seconds));
    table.add({"  node " + node, percent(total == 0 ? 0 : amount * 1'000'000 / total),
               spread.seconds > 0 ? grouped(per_second) + "/s" : grouped(amount),
               bar(amount, total, kBarWidth)});
  }
  const std::string text = table.text();
  return text.substr(text.find('\n') + 1);
}

Json to_json(const Spread& spread) {
  Json json = Json::object();
  for (const auto& [node, count] : spread.amounts) json[node] = count;
  return json;
}

}  // namespace

Json to_json(const DemoResult& result) {
  const loadgen::Findings& findings = result.load.findings;
  Json moves = Json::array();
  for (const DemoMove& move : result.moves) {
    moves.push_back({{"source", move.source},
                     {"destination", move.destination},
                     {"keys", move.keys},
                     {"reason", move.reason}});
  }
  return {{"peak_over_mean_before", thousandths(result.before.peak_over_mean())},
          {"peak_over_mean_after", thousandths(result.after.peak_over_mean())},
          {"lower_bound", thousandths(result.lower_bound)},
          {"target", thousandths(result.target)},
          {"seconds_to_converge", thousandths(result.seconds_to_converge)},
          {"cuts", result.cuts},
          {"moves", result.moves.size()},
          {"moves_aborted", result.moves_aborted},
          {"keys_total", result.keys_total},
          {"keys_moved", result.keys_moved},
          {"keys_moved_least", result.keys_moved_least},
          {"writes_acked", findings.writes_acked},
          {"writes_lost", findings.writes_lost},
          {"reads_wrong", findings.reads_wrong},
          {"unchecked", result.load.unchecked},
          {"requests_held", result.requests_held},
          {"fence_hold_ms_p50", result.fence_hold_ms_p50},
          {"fence_hold_ms_p99", result.fence_hold_ms_p99},
          {"p99_ms_before", to_ms(result.p99_us_before)},
          {"p99_ms_during", to_ms(result.p99_us_during)},
          {"ops", result.load.operations},
          {"ops_per_s", result.load.operations_per_second},
          {"errors", result.load.errors},
          {"errors_by_text", result.load.errors_by_text},
          {"examples", findings.examples},
          {result.unit + "_before", to_json(result.before)},
          {result.unit + "_after", to_json(result.after)},
          {"move_list", std::move(moves)}};
}

std::string to_text(const DemoResult& result) {
  const loadgen::Findings& findings = result.load.findings;
  std::string text = "\nbefore, " + result.unit + ": the node with most at " +
                     two_decimals(result.before.peak_over_mean()) + " of the mean\n" +
                     bars(result.before) + "\nwhat cleave did\n";
  for (const DemoMove& move : result.moves) {
    text += "  " + move.source + " -> " + move.destination + ", " + grouped(move.keys) +
            " keys: " + move.reason + "\n";
  }
  text += "\nafter: the node with most at " + two_decimals(result.after.peak_over_mean()) +
          " of the mean; no placement is below " + two_decimals(result.lower_bound) + "\n" +
          bars(result.after) + "\n";
  text += result.seconds_to_converge < 0
              ? "not even within the time"
              : "even " + two_decimals(result.seconds_to_converge) + " s after " + result.onset;
  text +=
      "; " + std::to_string(result.moves.size()) + " moves, " + grouped(result.keys_moved) +
      " of " + grouped(result.keys_total) + " keys moved" +
      (result.keys_moved_least == 0 ? ""
                                    : " (the least is " + grouped(result.keys_moved_least) + ")") +
      "\n";
  text += grouped(result.load.operations) + " requests, " + grouped(findings.writes_acked) +
          " writes acknowledged: " + grouped(findings.writes_lost) + " lost, " +
          grouped(findings.reads_wrong) + " reads wrong\n";
  text += grouped(result.requests_held) + " requests waited at a fence, p99 " +
          two_decimals(result.fence_hold_ms_p99) +
          " ms; p99 of all: " + two_decimals(to_ms(result.p99_us_before)) + " ms before, " +
          two_decimals(to_ms(result.p99_us_during)) + " ms while moving\n";
  return text;
}

}  // namespace cleave::app
