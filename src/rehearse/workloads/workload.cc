#include "rehearse/workloads/workload.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "balance/input/input.h"
#include "base/wide.h"
#include "rehearse/workloads/workloads.h"
#include "rehearse/workloads/workloads_changing.h"
#include "rehearse/workloads/workloads_keys.h"
#include "rehearse/workloads/workloads_nodes.h"

namespace cleave::rehearse {
namespace {

constexpr std::uint32_t kNearIdle = 200;  // millionths of all capacity

using Made = std::unique_ptr<Workload>;

struct Kind {
  std::string_view name;
  std::string_view argument;  // what stands behind the colon; "" = nothing does
  double least;               // of the argument
  double most;
  std::string_view what;
  Made (*make)(const Setting&, double argument);
};

template <class Workload>
Made plain(const Setting& setting, double /*argument*/) {
  return std::make_unique<Workload>(setting);
}

Made zipf(const Setting& setting, double exponent) {
  return std::make_unique<ZipfWorkload>(setting, ZipfWorkload::Shape{.exponent = exponent});
}

Made uniform(const Setting& setting, double /*argument*/) { return zipf(setting, 0); }

Made near_idle(const Setting& setting, double /*argument*/) {
  const ZipfWorkload::Shape shape{.exponent = 1.2, .utilisation_ppm = kNearIdle};
  return std::make_unique<ZipfWorkload>(setting, shape);
}

Made idle(const Setting& setting, double /*argument*/) {
  const ZipfWorkload::Shape shape{.exponent = 1.2, .utilisation_ppm = 0};
  return std::make_unique<ZipfWorkload>(setting, shape);
}

Made shift(const Setting& setting, double period) {
  return std::make_unique<ShiftWorkload>(setting, seconds{static_cast<std::int64_t>(period)});
}

Made twins(const Setting& setting, double per_cent) {
  return std::make_unique<TwinsWorkload>(setting, per_cent);
}

Made twitter(const Setting& setting, double row) {
  return std::make_unique<TwitterWorkload>(setting,
                                           kTwitterRows[static_cast<std::size_t>(row) - 1]);
}

constexpr Kind kKinds[] = {
    {"zipf", "A", 0, 5, "rank r is asked for 1/r^A as often as rank 1", zipf},
    {"uniform", "", 0, 0, "every key alike", uniform},
    {"near-idle", "", 0, 0, "skewed, but next to nothing", near_idle},
    {"idle", "", 0, 0, "nothing at all", idle},
    {"flash", "", 0, 0, "one key gets 30 % of the load within a second", plain<FlashWorkload>},
    {"shift", "SECONDS", 1, 86'400, "the hot set moves on after each period", shift},
    {"diurnal", "", 0, 0, "a day with three sunrises", plain<DiurnalWorkload>},
    {"square", "", 0, 0, "on and off in the rhythm of detection", plain<SquareWorkload>},
    {"growth", "", 0, 0, "keys and load double within an hour", plain<GrowthWorkload>},
    {"negative", "", 0, 0, "reads of keys that are not there", plain<NegativeWorkload>},
    {"twins", "PERCENT", 0, 49, "two keys of one node get so much of the load each", twins},
    {"tags", "", 0, 0, "hash tags with fifty keys each", plain<TagsWorkload>},
    {"capacities", "", 0, 0, "nodes of weight 1, 2 and 4", plain<CapacitiesWorkload>},
    {"rack-loss", "", 0, 0, "a rack is away for two minutes", plain<RackLossWorkload>},
    {"join", "", 0, 0, "one more node", plain<JoinWorkload>},
    {"leave", "", 0, 0, "one node less", plain<LeaveWorkload>},
    {"bytes", "", 0, 0, "values of very different sizes, little memory", plain<BytesWorkload>},
    {"twitter", "N", 1, std::size(kTwitterRows), "row N of Twitter's table of 2020", twitter},
};

Result<double> parse_argument(const Kind& kind, std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc{} && end == text.data() + text.size() && value >= kind.least &&
      value <= kind.most)
    return value;
  return fail(Code::kInvalid, "workload '" + std::string(kind.name) + "': want a number from " +
                                  std::to_string(kind.least) + " to " + std::to_string(kind.most) +
                                  " behind the colon, got '" + std::string(text) + "'");
}

}  // namespace

Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const Setting& setting) {
  const std::size_t colon = name.find(':');
  const std::string_view kind_name = name.substr(0, colon);
  for (const Kind& kind : kKinds) {
    if (kind.name != kind_name) continue;
    if (kind.argument.empty() != (colon == std::string_view::npos)) break;
    Result<double> argument = 0.0;
    if (!kind.argument.empty()) argument = parse_argument(kind, name.substr(colon + 1));
    if (!argument) return std::unexpected(argument.error());
    return kind.make(setting, *argument);
  }
  std::string known;
  for (const Kind& kind : kKinds) {
    known += (known.empty() ? "" : ", ") + std::string(kind.name) +
             (kind.argument.empty() ? "" : ":" + std::string(kind.argument));
  }
  return fail(Code::kInvalid,
              "no workload is named '" + std::string(name) + "'; there are " + known);
}

std::vector<std::string> workload_names() {
  std::vector<std::string> lines;
  for (const Kind& kind : kKinds) {
    std::string name(kind.name);
    if (!kind.argument.empty()) name += ":" + std::string(kind.argument);
    name.resize(std::max<std::size_t>(name.size() + 2, 16), ' ');
    lines.push_back(name + std::string(kind.what));
  }
  return lines;
}

std::vector<NodeSpec> equal_nodes(std::size_t count) {
  std::vector<NodeSpec> nodes;
  for (std::size_t number = 1; number <= count; ++number) {
    nodes.push_back({.name = "n" + std::to_string(number), .rack = "r" + std::to_string(number)});
  }
  return nodes;
}

std::uint64_t load_of(std::size_t nodes, std::uint32_t utilisation_ppm) {
  return static_cast<std::uint64_t>(Wide{nodes} * balance::kCore * utilisation_ppm / 1'000'000);
}

}  // namespace cleave::rehearse
