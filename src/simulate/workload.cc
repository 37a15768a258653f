#include "simulate/workload.h"

#include <charconv>
#include <functional>
#include <optional>

#include "balance/input.h"
#include "base/wide.h"
#include "simulate/workloads.h"

namespace cleave::simulate {
namespace {

constexpr std::uint32_t kUsual = 400'000;  // of all capacity: a pool in good health
constexpr std::uint32_t kNearIdle = 200;   // of all capacity

// What stands behind the colon of "zipf:0.99".
using Argument = std::optional<double>;
using Maker = std::function<std::unique_ptr<Workload>(const Setting&, double argument)>;

struct Kind {
  std::string_view name;
  std::string_view argument;  // its name; "" = takes none
  double least;               // of the argument
  double most;
  std::string_view what;
  Maker make;
};

template <class Made>
Maker zipf_of(double exponent, std::uint32_t utilisation_ppm) {
  return [=](const Setting& setting, double) {
    return std::make_unique<Made>(setting, exponent, utilisation_ppm);
  };
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"zipf", "A", 0, 5, "rank r is asked for 1/r^A as often as rank 1",
       [](const Setting& setting, double exponent) {
         return std::make_unique<ZipfWorkload>(setting, exponent, kUsual);
       }},
      {"uniform", "", 0, 0, "every key alike", zipf_of<ZipfWorkload>(0, kUsual)},
      {"near-idle", "", 0, 0, "skewed, but next to nothing", zipf_of<ZipfWorkload>(1.2, kNearIdle)},
      {"idle", "", 0, 0, "nothing at all", zipf_of<ZipfWorkload>(1.2, 0)},
  };
  return all;
}

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
  for (const Kind& kind : kinds()) {
    if (kind.name != kind_name) continue;
    if (kind.argument.empty() != (colon == std::string_view::npos)) break;
    Result<double> argument = 0.0;
    if (!kind.argument.empty()) argument = parse_argument(kind, name.substr(colon + 1));
    if (!argument) return std::unexpected(argument.error());
    return kind.make(setting, *argument);
  }
  std::string known;
  for (const Kind& kind : kinds()) {
    known += (known.empty() ? "" : ", ") + std::string(kind.name) +
             (kind.argument.empty() ? "" : ":" + std::string(kind.argument));
  }
  return fail(Code::kInvalid,
              "no workload is named '" + std::string(name) + "'; there are " + known);
}

std::vector<std::string> workload_names() {
  std::vector<std::string> lines;
  for (const Kind& kind : kinds()) {
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

}  // namespace cleave::simulate
