#include "ring/schemes/peers/slot_owners.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/to_number.h"
#include "ring/schemes/layouts.h"
#include "ring/schemes/peers/owner_lists.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kNobody = 0xFFFFFFFFU;
constexpr OwnerLists kSlots{.option = "slots", .form = "NODE=FIRST-LAST,...;NODE=..."};

// Node i ends at slots x (weights up to i) / sum, rounded half up.
std::vector<std::uint32_t> even_owners(std::span<const PlacedNode> nodes, std::uint64_t slots) {
  const std::uint64_t total = weight_sum(nodes);
  std::vector<std::uint32_t> owners;
  std::uint64_t weight = 0;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    weight += nodes[i].weight;
    owners.resize((2 * slots * weight + total) / (2 * total), i);
  }
  return owners;
}

class SlotsReader {
 public:
  SlotsReader(OptionReader& options, std::span<const PlacedNode> nodes, std::uint32_t count)
      : options_(options), owners_(count, kNobody), names_(count) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) indexes_.emplace(nodes[i].name, i);
  }

  std::vector<std::uint32_t> read() && {
    read_owner_lists(options_, kSlots, [this](std::string_view item, std::string_view node) {
      read_range(item, node);
    });
    return std::move(owners_);
  }

 private:
  void read_range(std::string_view range, std::string_view node) {
    std::string_view rest = range;
    const std::string_view first_text = cut_before(rest, '-');
    const std::uint64_t first = number(first_text);
    const std::uint64_t last = first_text.size() == range.size() ? first : number(rest);
    if (first > last || last >= owners_.size()) {
      return options_.refuse_value(
          kSlots.option, range,
          "want slots from 0 to " + std::to_string(owners_.size() - 1) + ", as N or FIRST-LAST");
    }
    for (std::uint64_t slot = first; slot <= last; ++slot) {
      if (!names_[slot].empty()) {
        const std::string what = "slot " + std::to_string(slot);
        return options_.refuse_value(kSlots.option, range, given_twice(what, names_[slot], node));
      }
      names_[slot] = node;
      const auto known = indexes_.find(node);
      if (known != indexes_.end()) owners_[slot] = known->second;
    }
  }

  // Above every slot when it is no number.
  std::uint64_t number(std::string_view text) const {
    return to_number<std::uint64_t>(text).value_or(owners_.size());
  }

  OptionReader& options_;
  std::vector<std::uint32_t> owners_;
  std::vector<std::string_view> names_;  // of the owner of each slot, also of one that is not there
  std::map<std::string_view, std::uint32_t> indexes_;
};

}  // namespace

std::vector<std::uint32_t> slot_owners(OptionReader& options, std::span<const PlacedNode> nodes,
                                       std::uint32_t count) {
  std::vector<std::uint32_t> owners = SlotsReader(options, nodes, count).read();
  const auto left = static_cast<std::uint64_t>(std::ranges::count(owners, kNobody));
  const std::vector<std::uint32_t> even = even_owners(nodes, left);
  CHECK(even.size() == left);
  auto next = even.begin();
  for (std::uint32_t& owner : owners) {
    if (owner == kNobody) owner = *next++;
  }
  return owners;
}

}  // namespace cleave::ring
