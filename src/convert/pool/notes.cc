#include "convert/pool/notes.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

#include "base/ascii.h"
#include "base/server_text.h"
#include "convert/pool/address.h"
#include "ring/document/document.h"
#include "ring/utf8.h"

namespace cleave::convert {
namespace {

// Of these only the proportion of the weights counts: ketama and Envoy divide by their sum first.
constexpr std::array<std::string_view, 4> kProportional = {"twemproxy-ketama", "envoy-ring",
                                                           "envoy-maglev", "envoy-redis"};
// Beside the characters of other names: nodes are often called by their addresses.
constexpr std::string_view kAddressMark = ":";

// twemproxy divides 32-bit floats, which are exact up to here.
constexpr std::uint64_t kExactWeights = std::uint64_t{1} << 24U;

bool is_proportional(const Pool& pool) {
  return std::ranges::find(kProportional, pool.scheme.name) != kProportional.end();
}

std::uint64_t sum_of(const std::vector<PoolNode>& nodes) {
  std::uint64_t sum = 0;
  for (const PoolNode& node : nodes) sum += node.weight;
  return sum;
}

std::uint32_t largest_of(const std::vector<PoolNode>& nodes) {
  return nodes.empty() ? 0 : std::ranges::max(nodes, {}, &PoolNode::weight).weight;
}

std::uint32_t divisor_of(const std::vector<PoolNode>& nodes) {
  std::uint32_t divisor = 0;
  for (const PoolNode& node : nodes) divisor = std::gcd(divisor, node.weight);
  return divisor;
}

// The text as a name that cleave takes, with '-' for each character that it may not have.
std::string plain_name(std::string_view text, std::string_view more) {
  std::string name(text.substr(0, kNameCharactersMax));
  for (char& each : name) {
    if (!is_plain_name({&each, 1}, more)) each = '-';
  }
  return name.empty() ? "main" : name;
}

}  // namespace

std::string at_line(const std::string& file, std::size_t line, const std::string& what) {
  return file + (line == 0 ? "" : ":" + std::to_string(line)) + ": " + what;
}

void Notes::remark(std::size_t line, std::string text) {
  remarks_.push_back({line, std::move(text)});
}

void Notes::refuse(std::size_t line, const std::string& text) {
  reasons_.push_back(place(line, text));
}

Result<Pool> Notes::finish(Pool pool) && {
  check_names(pool);
  check_addresses(pool);
  check_weights(pool);
  if (!refused()) check_scheme(pool);
  if (refused()) {
    std::string all;
    for (const std::string& reason : reasons_) all += (all.empty() ? "" : "\n") + reason;
    return fail(Code::kInvalid, all);
  }
  rename_pool(pool);
  rename_nodes(pool);
  pool.remarks = std::move(remarks_);
  return pool;
}

Error Notes::not_placed(std::size_t line, const std::string& text) const {
  return {Code::kNotFound, place(line, text)};
}

std::string Notes::place(std::size_t line, const std::string& text) const {
  return at_line(file_, line, "pool '" + pool_ + "': " + text);
}

void Notes::rename_pool(Pool& pool) {
  if (is_plain_name(pool.name)) return;
  pool.name = plain_name(pool.name, "");
  remark(0, "the pool is called '" + pool.name +
                "': names of pools have letters, digits, '-', '_' and '.' only");
}

void Notes::rename_nodes(Pool& pool) {
  std::set<std::string> names;
  for (const PoolNode& node : pool.nodes) names.insert(node.name);
  for (PoolNode& node : pool.nodes) {
    if (is_plain_name(node.name, kAddressMark)) continue;
    node.hash_key = node.name;
    const std::string plain = plain_name(node.name, kAddressMark).substr(0, kNameCharactersMax - 8);
    node.name = plain;
    for (int i = 2; !names.insert(node.name).second; ++i)
      node.name = plain + "-" + std::to_string(i);
    remark(0, "server '" + node.hash_key + "' is called '" + node.name +
                  "'; hashed is its old name, as hash_key");
  }
}

void Notes::check_names(const Pool& pool) {
  std::set<std::string_view> seen;
  for (const PoolNode& node : pool.nodes) {
    if (!ring::is_word(node.name)) {
      refuse(0, "server '" + node.name + "': want a name of 1 to " +
                    std::to_string(ring::kWordBytesMax) +
                    " bytes of UTF-8 without control characters");
    }
    if (!seen.insert(node.name).second)
      refuse(0, "server '" + node.name + "' is there twice; names are unique in cleave");
  }
}

void Notes::check_addresses(const Pool& pool) {
  std::set<std::string> seen;
  for (const PoolNode& node : pool.nodes) {
    for (const std::string& member : node.members) {
      if (seen.insert(comparable_address(member)).second) continue;
      refuse(0, "server " + member +
                    " is there twice: two nodes on one server would see each other's keys; give "
                    "each its own server");
    }
  }
}

void Notes::check_weights(Pool& pool) {
  const std::uint32_t largest = largest_of(pool.nodes);
  if (largest > ring::kWeightMax && is_proportional(pool) && sum_of(pool.nodes) <= kExactWeights) {
    const std::uint32_t divisor = divisor_of(pool.nodes);
    if (divisor > 1 && largest / divisor <= ring::kWeightMax) {
      for (PoolNode& node : pool.nodes) node.weight /= divisor;
      remark(0, "all weights are divided by " + std::to_string(divisor) +
                    ": cleave's largest is 1000, and only their proportion places keys");
    }
  }
  for (const PoolNode& node : pool.nodes) {
    if (node.weight >= 1 && node.weight <= ring::kWeightMax) continue;
    refuse(0, "server '" + node.name + "': weight " + std::to_string(node.weight) +
                  ": cleave takes 1 to 1000, and other weights would move keys");
  }
  if (sum_of(pool.nodes) > ring::kWeightSumMax)
    refuse(0, "the weights sum up to more than " + std::to_string(ring::kWeightSumMax));
}

void Notes::check_scheme(const Pool& pool) {
  const auto placement = ring::place(pool.scheme, placed_nodes(pool));
  if (!placement) refuse(0, placement.error().message);
}

}  // namespace cleave::convert
