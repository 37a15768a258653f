#include <cleave/ring.hpp>
#include <cmath>
#include <utility>

#include "ring/placed/placed_ring_text.h"
#include "ring/width.h"
#include "ring_library/ring_error.h"
#include "ring_library/ring_impl.h"

namespace cleave {
namespace {

using ring::PlacedRing;
using ring_library::core_node;
using ring_library::value_or_raise;

// Of all tokens. Rounded once: the division by 2^64 is exact.
double fraction(Wide tokens) { return std::ldexp(static_cast<double>(tokens), -64); }

PlacedRing make(const std::string& scheme, const std::vector<Ring::Node>& nodes,
                const Ring::Options& options) {
  ring::RingSpec spec{.scheme = {.name = scheme}, .nodes = {}};
  spec.scheme.options.insert(options.begin(), options.end());
  spec.nodes.reserve(nodes.size());
  for (const Ring::Node& node : nodes) spec.nodes.push_back(core_node(node));
  return value_or_raise(PlacedRing::make(spec));
}

}  // namespace

Ring::Impl::Impl(PlacedRing placed) : ring(std::move(placed)) {
  const ring::RingSpec spec = ring.spec();
  nodes.reserve(spec.nodes.size());
  for (const ring::RingNode& node : spec.nodes) {
    nodes.push_back({node.name, node.weight, node.rack, node.datacenter});
  }
  cuts.reserve(spec.cuts.size());
  for (const ring::NamedCut& cut : spec.cuts) {
    cuts.push_back({cut.range.first.value(), cut.range.last.value(), cut.node});
  }
  options.insert(spec.scheme.options.begin(), spec.scheme.options.end());
}

const PlacedRing& RingAccess::of(const Ring& ring) { return ring.impl_->ring; }

Ring RingAccess::wrap(PlacedRing ring) {
  return Ring(std::make_shared<const Ring::Impl>(std::move(ring)));
}

Ring::Ring(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}

Ring::Ring(const std::string& scheme, const std::vector<Node>& nodes, const Options& options)
    : impl_(std::make_shared<const Impl>(make(scheme, nodes, options))) {}

Ring::Ring(const Ring&) noexcept = default;
Ring& Ring::operator=(const Ring&) noexcept = default;
Ring::~Ring() = default;

Ring Ring::from_text(std::string_view text) {
  return RingAccess::wrap(value_or_raise(ring::parse_ring(text)));
}

std::string Ring::to_text() const { return ring::to_text(impl_->ring); }

std::optional<std::size_t> Ring::locate(std::string_view key) const noexcept {
  return impl_->ring.owner(key);
}

void Ring::locate(const std::string_view* keys, std::size_t count,
                  std::size_t* owners) const noexcept {
  static_assert(kNowhere == ring::kNoNode);
  impl_->ring.owners({keys, count}, {owners, count});
}

std::optional<std::uint64_t> Ring::token_of(std::string_view key) const noexcept {
  const std::optional<Token> token = impl_->ring.token_of(key);
  if (!token) return std::nullopt;
  return token->value();
}

std::size_t Ring::owner(std::uint64_t token) const noexcept {
  return impl_->ring.owner(Token{token});
}

bool Ring::fixed_tokens() const noexcept { return impl_->ring.fixed_tokens(); }

const std::string& Ring::scheme() const noexcept { return impl_->ring.scheme().name; }
const Ring::Options& Ring::options() const noexcept { return impl_->options; }
const std::vector<Ring::Node>& Ring::nodes() const noexcept { return impl_->nodes; }
const std::vector<Ring::Cut>& Ring::cuts() const noexcept { return impl_->cuts; }

std::optional<std::size_t> Ring::find(std::string_view name) const noexcept {
  return impl_->ring.index_of(name);
}

std::vector<Ring::Arc> Ring::arcs() const {
  const std::vector<ring::Arc> placed = impl_->ring.arcs();
  std::vector<Arc> arcs;
  arcs.reserve(placed.size());
  for (const ring::Arc& arc : placed) {
    arcs.push_back({arc.range.first.value(), arc.range.last.value(), arc.node.value() - 1});
  }
  return arcs;
}

std::vector<double> Ring::shares() const {
  std::vector<Wide> tokens(nodes().size());
  for (const ring::Arc& arc : impl_->ring.arcs()) tokens[arc.node.value() - 1] += width(arc.range);
  std::vector<double> shares;
  shares.reserve(tokens.size());
  for (const Wide owned : tokens) shares.push_back(fraction(owned));
  return shares;
}

Ring Ring::with_node(const Node& node) const {
  return RingAccess::wrap(value_or_raise(impl_->ring.with_node(core_node(node))));
}

Ring Ring::without_node(std::string_view name) const {
  return RingAccess::wrap(value_or_raise(impl_->ring.without_node(name)));
}

Ring Ring::with_weight(std::string_view name, std::uint32_t weight) const {
  return RingAccess::wrap(value_or_raise(impl_->ring.with_weight(name, weight)));
}

Ring Ring::with_cut(const Cut& cut) const {
  const ring::NamedCut named{{Token{cut.first}, Token{cut.last}}, cut.node};
  return RingAccess::wrap(value_or_raise(impl_->ring.with_cut(named)));
}

Ring Ring::without_cuts() const { return RingAccess::wrap(impl_->ring.without_cuts()); }

std::vector<Ring::Change> Ring::diff(const Ring& before, const Ring& after) {
  const ring::PlacementDiff result =
      value_or_raise(ring::diff(before.impl_->ring, after.impl_->ring));
  std::vector<Change> changes;
  changes.reserve(result.changes.size());
  for (const ring::Change& change : result.changes) {
    changes.push_back({change.range.first.value(), change.range.last.value(),
                       result.names[change.from.value() - 1], result.names[change.to.value() - 1],
                       fraction(width(change.range))});
  }
  return changes;
}

bool Ring::equals(const Ring& other) const noexcept {
  const PlacedRing& left = impl_->ring;
  const PlacedRing& right = other.impl_->ring;
  return left.scheme().name == right.scheme().name && options() == other.options() &&
         left.nodes() == right.nodes() && left.cuts() == right.cuts();
}

std::vector<std::string> Ring::schemes() {
  std::vector<std::string> names;
  for (const ring::SchemeText& scheme : ring::schemes()) names.emplace_back(scheme.name);
  return names;
}

int ring_abi_version() noexcept { return CLEAVE_RING_ABI; }

}  // namespace cleave
