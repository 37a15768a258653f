#include "balance/input/named_constants.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <type_traits>
#include <variant>

namespace cleave::balance {
namespace {

using Member =
    std::variant<std::uint32_t Constants::*, std::uint64_t Constants::*, milliseconds Constants::*>;

struct Row {
  std::string_view name;
  Member member;
  std::uint64_t least = 0;  // 1 where the planner divides by it
  std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
};

// A constant that is missing here fails NamedConstants.NamesEveryMember.
constexpr Row kRows[] = {
    {"hot_ppm", &Constants::hot_ppm},
    {"hot_mean_ppm", &Constants::hot_mean_ppm},
    {"hot_ticks", &Constants::hot_ticks},
    {"hot_ticks_of", &Constants::hot_ticks_of, 1, 8},
    {"unusual_ppm", &Constants::unusual_ppm},
    {"hot_capacity_ppm", &Constants::hot_capacity_ppm},
    {"urgent_capacity_ppm", &Constants::urgent_capacity_ppm},
    {"slow_ppm", &Constants::slow_ppm},
    {"slow_after", &Constants::slow_after},
    {"cheap_after", &Constants::cheap_after},
    {"cheap_seconds", &Constants::cheap_seconds},
    {"move_ns_per_key", &Constants::move_ns_per_key},
    {"goal_ppm", &Constants::goal_ppm},
    {"stop_errors", &Constants::stop_errors},
    {"stop_ppm", &Constants::stop_ppm},
    {"stop_least_ppm", &Constants::stop_least_ppm},
    {"stop_bound_ppm", &Constants::stop_bound_ppm},
    {"near_bound_ppm", &Constants::near_bound_ppm},
    {"polish_stop_ppm", &Constants::polish_stop_ppm},
    {"polish_sink_ppm", &Constants::polish_sink_ppm},
    {"polish_plans", &Constants::polish_plans},
    {"slow_capacity_ppm", &Constants::slow_capacity_ppm},
    {"calm_capacity_ppm", &Constants::calm_capacity_ppm},
    {"sink_ppm", &Constants::sink_ppm},
    {"fill_ppm", &Constants::fill_ppm},
    {"bound_slack_ppm", &Constants::bound_slack_ppm},
    {"unseen_ppm", &Constants::unseen_ppm, 1},
    {"piece_over_ppm", &Constants::piece_over_ppm},
    {"piece_min_ppm", &Constants::piece_min_ppm},
    {"gain_min_ppm", &Constants::gain_min_ppm},
    {"gain_excess_ppm", &Constants::gain_excess_ppm},
    {"larger_ppm", &Constants::larger_ppm},
    {"larger_gain_ppm", &Constants::larger_gain_ppm},
    {"flaps_max", &Constants::flaps_max},
    {"pieces_max", &Constants::pieces_max},
    {"pieces_usual", &Constants::pieces_usual, 1, 1'000'000},
    {"few_cuts_ppm", &Constants::few_cuts_ppm},
    {"piece_bytes", &Constants::piece_bytes},
    {"piece_keys_min", &Constants::piece_keys_min},
    {"piece_samples_min", &Constants::piece_samples_min},
    {"heavy_ppm", &Constants::heavy_ppm},
    {"single_ppm", &Constants::single_ppm},
    {"plan_keys_ppm", &Constants::plan_keys_ppm},
    {"hour_keys_ppm", &Constants::hour_keys_ppm},
    {"urgent_hour_keys_ppm", &Constants::urgent_hour_keys_ppm},
    {"plan_keys_min", &Constants::plan_keys_min},
    {"slow_divisor", &Constants::slow_divisor, 1},
    {"scan_ns_per_key", &Constants::scan_ns_per_key},
    {"worth_seconds", &Constants::worth_seconds},
    {"cuts_per_node", &Constants::cuts_per_node},
    {"cuts_max", &Constants::cuts_max},
    {"moves_out_max", &Constants::moves_out_max},
    {"moves_in_max", &Constants::moves_in_max},
    {"memory_ppm", &Constants::memory_ppm},
    {"recut_after", &Constants::recut_after},
    {"dwell", &Constants::dwell},
    {"back_after", &Constants::back_after},
    {"back_max", &Constants::back_max},
    {"failed_after", &Constants::failed_after},
    {"failed_max", &Constants::failed_max},
    {"helped_ppm", &Constants::helped_ppm},
    {"helpless_after", &Constants::helpless_after},
    {"helpless_max", &Constants::helpless_max},
    {"unhealthy_ppm", &Constants::unhealthy_ppm},
    {"silent_ppm", &Constants::silent_ppm},
    {"near_ppm", &Constants::near_ppm},
    {"targets_max", &Constants::targets_max},
    {"cut_ppm", &Constants::cut_ppm},
    {"merge_ppm", &Constants::merge_ppm},
    {"merge_after", &Constants::merge_after},
    {"merge_observed", &Constants::merge_observed},
    {"gather_cuts_per_node", &Constants::gather_cuts_per_node},
    {"merges_max", &Constants::merges_max},
    {"join_below_ppm", &Constants::join_below_ppm},
    {"join_until_ppm", &Constants::join_until_ppm},
    {"join_load_ppm", &Constants::join_load_ppm},
    {"memory_hot_ppm", &Constants::memory_hot_ppm},
    {"memory_above_ppm", &Constants::memory_above_ppm},
    {"memory_skew_ppm", &Constants::memory_skew_ppm},
    {"memory_skew_limit_ppm", &Constants::memory_skew_limit_ppm},
    {"memory_stop_ppm", &Constants::memory_stop_ppm},
    {"memory_settle", &Constants::memory_settle},
    {"advise_ppm", &Constants::advise_ppm},
    {"advise_to_ppm", &Constants::advise_to_ppm},
    {"expected_points_max", &Constants::expected_points_max},
    {"expected_points", &Constants::expected_points, 1},
};

std::uint64_t most_of(const Row& row) {
  const std::uint64_t fits = std::holds_alternative<std::uint32_t Constants::*>(row.member)
                                 ? std::numeric_limits<std::uint32_t>::max()
                                 : std::numeric_limits<std::int64_t>::max();
  return std::min(fits, row.most);
}

}  // namespace

std::vector<NamedConstant> named_constants(const Constants& constants) {
  std::vector<NamedConstant> all;
  for (const Row& row : kRows) {
    const auto value = std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), milliseconds Constants::*>) {
            return static_cast<std::uint64_t>((constants.*member).count());
          } else {
            return std::uint64_t{constants.*member};
          }
        },
        row.member);
    all.push_back({.name = row.name, .value = value});
  }
  return all;
}

Result<void> set_constant(Constants& constants, std::string_view name, std::uint64_t value) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    if (value < row.least || value > most_of(row)) {
      return fail(Code::kInvalid, "constant '" + std::string(name) + "': " + std::to_string(value) +
                                      " is not from " + std::to_string(row.least) + " to " +
                                      std::to_string(most_of(row)));
    }
    std::visit(
        [&](auto member) {
          using Value = std::remove_reference_t<decltype(constants.*member)>;
          if constexpr (std::is_same_v<Value, milliseconds>) {
            constants.*member = milliseconds{static_cast<std::int64_t>(value)};
          } else {
            constants.*member = static_cast<Value>(value);
          }
        },
        row.member);
    return {};
  }
  return fail(Code::kInvalid, "no constant of the balancer is named '" + std::string(name) + "'");
}

}  // namespace cleave::balance
