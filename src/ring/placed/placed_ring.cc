#include "ring/placed/placed_ring.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/check.h"
#include "ring/document/validate.h"
#include "ring/schemes/key_batches.h"
#include "ring/schemes/placement_join.h"
#include "ring/utf8.h"
#include "ring/view/ownership.h"

namespace cleave::ring {
namespace {

// What the text form and C strings can carry. Empty: no rack, no datacenter.
bool is_text(std::string_view text) { return text.empty() || is_word(text); }

std::unexpected<Error> no_text(std::string_view what) {
  return fail(Code::kInvalid, std::string(what) + ": want at most " +
                                  std::to_string(kWordBytesMax) +
                                  " bytes of UTF-8 without control characters");
}

Result<void> check_texts(const RingSpec& spec) {
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) {
    const RingNode& node = spec.nodes[i];
    const std::string place = "node " + std::to_string(i) + ": ";
    if (!is_text(node.name)) return no_text(place + "name");
    if (!is_text(node.rack)) return no_text(place + "rack");
    if (!is_text(node.datacenter)) return no_text(place + "datacenter");
  }
  return check_option_values(spec.scheme);
}

Cut cut_of(const TokenRange& range, std::size_t index) {
  return {.range = range,
          .node = NodeId{static_cast<std::uint32_t>(index) + 1},
          .reason = {},
          .created = {},
          .pinned_until = {}};
}

Error no_node(std::string_view name) {
  return {Code::kNotFound, "no node is named '" + std::string(name) + "'"};
}

Result<void> check_can_cut(const Placement& placement, const SchemeSpec& scheme) {
  if (placement.fixed_tokens()) return {};
  return fail(Code::kInvalid, "scheme " + scheme.name +
                                  " has no cuts: its tokens depend on the nodes, so a range of "
                                  "tokens would be other keys after each change of them");
}

Result<void> check_count(std::size_t cuts) {
  if (cuts <= kLaidCutsMax) return {};
  return fail(Code::kExhausted, std::to_string(cuts) + " cuts, at most " +
                                    std::to_string(kLaidCutsMax) + " are possible");
}

Result<void> check_range(const TokenRange& range) {
  if (range.first <= range.last) return {};
  return fail(Code::kInvalid, "a cut from " + to_hex(range.first) + " to " + to_hex(range.last) +
                                  ": its first token must not be above its last; a range that "
                                  "wraps is given as two");
}

// Sorted, with their nodes numbered. Errors as PlacedRing::make.
Result<std::vector<Cut>> read_cuts(const RingSpec& spec) {
  std::map<std::string_view, std::size_t> indexes;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) indexes.emplace(spec.nodes[i].name, i);
  std::vector<Cut> cuts;
  cuts.reserve(spec.cuts.size());
  for (const NamedCut& cut : spec.cuts) {
    if (auto good = check_range(cut.range); !good) return std::unexpected(good.error());
    const auto found = indexes.find(cut.node);
    if (found == indexes.end()) return fail("a cut", no_node(cut.node));
    cuts.push_back(cut_of(cut.range, found->second));
  }
  std::ranges::sort(cuts, {}, &Cut::range);
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    if (cuts[i - 1].range.last < cuts[i].range.first) continue;
    return fail(Code::kInvalid,
                "two cuts hold token " + to_hex(cuts[i].range.first) + "; cuts are disjoint");
  }
  return cuts;
}

// Options that place points or slots only: whatever they are, a key keeps its token.
constexpr std::array<std::string_view, 6> kOptionsOfNodes = {"points",       "min_ring", "named",
                                                             "default_port", "slots",    "tokens"};

std::map<std::string, std::string> key_options(const SchemeSpec& scheme) {
  std::map<std::string, std::string> options(scheme.options.begin(), scheme.options.end());
  for (const std::string_view name : kOptionsOfNodes) options.erase(std::string(name));
  return options;
}

}  // namespace

std::vector<PlacedNode> placed_nodes(std::span<const RingNode> nodes) {
  std::vector<PlacedNode> placed;
  placed.reserve(nodes.size());
  for (const RingNode& node : nodes) placed.push_back({node.name, node.weight});
  return placed;
}

RingSpec without_node(RingSpec spec, std::string_view name) {
  std::erase_if(spec.nodes, [&](const RingNode& node) { return node.name == name; });
  std::erase_if(spec.cuts, [&](const NamedCut& cut) { return cut.node == name; });
  return spec;
}

Result<PlacedRing> PlacedRing::make(const RingSpec& spec) {
  return make_of(place(spec.scheme, placed_nodes(spec.nodes)), spec);
}

Result<PlacedRing> PlacedRing::make_of(Result<std::shared_ptr<const Placement>> placement,
                                       const RingSpec& spec) {
  if (!placement) return std::unexpected(placement.error());
  return make(spec, std::move(*placement));
}

Result<PlacedRing> PlacedRing::make(const RingSpec& spec,
                                    std::shared_ptr<const Placement> placement) {
  if (auto good = check_texts(spec); !good) return std::unexpected(good.error());
  if (auto good = check_count(spec.cuts.size()); !good) return std::unexpected(good.error());
  CHECK(placement != nullptr);
  PlacedRing ring;
  ring.scheme_ = spec.scheme;
  ring.nodes_ = spec.nodes;
  ring.placement_ = std::move(placement);
  if (spec.cuts.empty()) return ring;
  if (auto good = check_can_cut(*ring.placement_, spec.scheme); !good) {
    return std::unexpected(good.error());
  }
  auto cuts = read_cuts(spec);
  if (!cuts) return std::unexpected(cuts.error());
  ring.lay_out(std::move(*cuts));
  return ring;
}

// Requires: sorted, disjoint.
void PlacedRing::lay_out(std::vector<Cut> cuts) {
  cuts_ = std::move(cuts);
  owner_of_piece_.clear();
  if (cuts_.empty()) return;
  // The placement counts as one arc of nobody: its own arcs are asked only for what no cut holds.
  const std::vector<Arc> nobody = {{{kFirstToken, kLastToken}, NodeId{0}}};
  std::vector<Token> firsts;
  for (const Entry& piece : overlay(nobody, cuts_)) {
    firsts.push_back(piece.range.first);
    owner_of_piece_.push_back(piece.node.value());
  }
  pieces_ = TokenIndex(std::move(firsts));
}

std::optional<std::size_t> PlacedRing::owner(std::string_view key) const {
  const std::optional<Token> token = token_of(key);
  if (!token) return std::nullopt;
  return owner(*token);
}

std::size_t PlacedRing::owner(Token token) const {
  if (!cuts_.empty()) {
    const std::uint32_t id = owner_of_piece_[pieces_.find(token)];
    if (id != 0) return id - 1;
  }
  return placement_->owner(token);
}

void PlacedRing::owners(std::span<const std::string_view> keys,
                        std::span<std::size_t> owners) const {
  if (cuts_.empty()) return placement_->owners(keys, owners);
  for_each_key_batch(keys, owners, [&](auto some, auto tokens, auto found) {
    placement_->tokens_of(some, tokens);
    placement_->owners(tokens, found);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::uint32_t id = tokens[i] ? owner_of_piece_[pieces_.find(*tokens[i])] : 0;
      if (id != 0) found[i] = id - 1;
    }
  });
}

std::optional<std::size_t> PlacedRing::index_of(std::string_view node) const {
  const auto found = std::ranges::find(nodes_, node, &RingNode::name);
  if (found == nodes_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - nodes_.begin());
}

RingSpec PlacedRing::spec() const {
  RingSpec spec{.scheme = scheme_, .nodes = nodes_};
  spec.cuts.reserve(cuts_.size());
  for (const Cut& cut : cuts_) {
    CHECK(cut.node != NodeId{} && cut.node.value() <= nodes_.size());
    spec.cuts.push_back({cut.range, nodes_[cut.node.value() - 1].name});
  }
  return spec;
}

std::vector<Arc> PlacedRing::arcs() const { return laid_arcs(*placement_, cuts_); }

Result<PlacedRing> PlacedRing::with_node(const RingNode& node) const {
  RingSpec changed = spec();
  changed.nodes.push_back(node);
  return make_of(place_joined(*placement_, scheme_, placed_nodes(changed.nodes)), changed);
}

Result<PlacedRing> PlacedRing::without_node(std::string_view name) const {
  if (!index_of(name)) return std::unexpected(no_node(name));
  return make(ring::without_node(spec(), name));
}

Result<PlacedRing> PlacedRing::with_weight(std::string_view name, std::uint32_t weight) const {
  const auto index = index_of(name);
  if (!index) return std::unexpected(no_node(name));
  RingSpec changed = spec();
  changed.nodes[*index].weight = weight;
  return make(changed);
}

Result<PlacedRing> PlacedRing::with_cut(const NamedCut& cut) const {
  if (auto good = check_can_cut(*placement_, scheme_); !good) return std::unexpected(good.error());
  if (auto good = check_range(cut.range); !good) return std::unexpected(good.error());
  const auto index = index_of(cut.node);
  if (!index) return std::unexpected(no_node(cut.node));
  std::vector<Cut> laid = cuts_;
  lay(laid, cut_of(cut.range, *index));
  if (auto good = check_count(laid.size()); !good) return std::unexpected(good.error());
  PlacedRing changed = *this;
  changed.lay_out(std::move(laid));
  return changed;
}

PlacedRing PlacedRing::without_cuts() const {
  PlacedRing changed = *this;
  changed.lay_out({});
  return changed;
}

Result<PlacementDiff> diff(const PlacedRing& before, const PlacedRing& after) {
  const SchemeSpec& from = before.scheme();
  const SchemeSpec& to = after.scheme();
  if (from.name != to.name || key_options(from) != key_options(to)) {
    return fail(Code::kInvalid, "the rings place keys by different schemes or options (" +
                                    from.name + ", " + to.name +
                                    "): their tokens cannot be compared");
  }
  const std::vector<PlacedNode> old_nodes = placed_nodes(before.nodes());
  const std::vector<PlacedNode> new_nodes = placed_nodes(after.nodes());
  return diff({before.placement(), old_nodes, before.cuts()},
              {after.placement(), new_nodes, after.cuts()});
}

}  // namespace cleave::ring
