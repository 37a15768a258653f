#include <algorithm>
#include <cleave/ring_loads.hpp>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "ring/placed/bounded_loads.h"
#include "ring/placed/two_choices.h"
#include "ring_library/ring_error.h"
#include "ring_library/ring_impl.h"

namespace cleave {
namespace {

using Counter = std::variant<ring::BoundedLoads, ring::TwoChoices>;
using Bound = std::optional<std::uint32_t>;  // nullopt: two choices
using IdOfName = std::map<std::string_view, NodeId>;

// The core keeps loads by id from ring to ring; so a name keeps its id, and a new name gets one
// that nobody had in the ring before.
std::vector<NodeId> ids_of(const Ring& ring, const IdOfName& before) {
  std::set<NodeId> taken;
  for (const auto& [name, id] : before) taken.insert(id);
  std::vector<NodeId> ids;
  std::uint32_t next = 1;
  for (const Ring::Node& node : ring.nodes()) {
    if (const auto known = before.find(node.name); known != before.end()) {
      ids.push_back(known->second);
      continue;
    }
    while (taken.contains(NodeId{next})) ++next;
    ids.push_back(NodeId{next++});
  }
  return ids;
}

Counter counter_of(const Ring& ring, const std::vector<NodeId>& ids, Bound bound) {
  std::vector<ring::WeightedNode> nodes;
  nodes.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) nodes.push_back({ids[i], ring.nodes()[i].weight});
  std::vector<ring::Arc> arcs = RingAccess::of(ring).arcs();
  for (ring::Arc& arc : arcs) arc.node = ids[arc.node.value() - 1];
  using ring_library::value_or_raise;
  if (bound) {
    const bool as_haproxy = RingAccess::of(ring).scheme().name == "haproxy";
    const auto rounding = as_haproxy ? ring::Rounding::kHaproxy : ring::Rounding::kUp;
    return value_or_raise(ring::BoundedLoads::build(arcs, nodes, *bound, rounding));
  }
  return value_or_raise(ring::TwoChoices::build(arcs, nodes));
}

}  // namespace

// A ring, its nodes as the core counts them, and their loads.
struct [[gnu::visibility("hidden")]] RingLoads::Impl {
  Impl(const Ring& made_of, Bound by_bound, const IdOfName& before)
      : ring(made_of),
        bound(by_bound),
        ids(ids_of(ring, before)),
        counter(counter_of(ring, ids, bound)) {
    std::uint32_t highest = 0;
    for (const NodeId id : ids) highest = std::max(highest, id.value());
    index_of_id.resize(highest + std::size_t{1});
    for (std::size_t i = 0; i < ids.size(); ++i) index_of_id[ids[i].value()] = i;
  }

  Ring ring;
  Bound bound;
  std::vector<NodeId> ids;  // by index
  Counter counter;
  std::vector<std::size_t> index_of_id;
};

RingLoads::RingLoads(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
RingLoads::RingLoads(RingLoads&&) noexcept = default;
RingLoads& RingLoads::operator=(RingLoads&&) noexcept = default;
RingLoads::~RingLoads() = default;

RingLoads RingLoads::bounded(const Ring& ring, std::uint32_t bound_per_mille) {
  return RingLoads(std::make_unique<Impl>(ring, bound_per_mille, IdOfName{}));
}

RingLoads RingLoads::two_choices(const Ring& ring) {
  return RingLoads(std::make_unique<Impl>(ring, std::nullopt, IdOfName{}));
}

std::optional<std::size_t> RingLoads::acquire(std::string_view key) {
  const std::optional<std::uint64_t> token = impl_->ring.token_of(key);
  if (!token) return std::nullopt;
  const NodeId node =
      std::visit([&](auto& counter) { return counter.acquire(Token{*token}); }, impl_->counter);
  return impl_->index_of_id[node.value()];
}

bool RingLoads::release(std::size_t node) noexcept {
  if (node >= impl_->ids.size()) return false;
  return std::visit([&](auto& counter) { return counter.release(impl_->ids[node]); },
                    impl_->counter);
}

std::uint64_t RingLoads::load(std::size_t node) const noexcept {
  if (node >= impl_->ids.size()) return 0;
  return std::visit([&](const auto& counter) { return counter.load(impl_->ids[node]); },
                    impl_->counter);
}

std::uint64_t RingLoads::total() const noexcept {
  return std::visit([](const auto& counter) { return counter.total(); }, impl_->counter);
}

void RingLoads::change_ring(const Ring& ring) {
  IdOfName before;
  for (std::size_t i = 0; i < impl_->ids.size(); ++i) {
    before.emplace(impl_->ring.nodes()[i].name, impl_->ids[i]);
  }
  auto changed = std::make_unique<Impl>(ring, impl_->bound, before);
  const auto take = [&](auto& counter) {
    counter.take_loads(std::get<std::remove_reference_t<decltype(counter)>>(impl_->counter));
  };
  std::visit(take, changed->counter);
  impl_ = std::move(changed);
}

const Ring& RingLoads::ring() const noexcept { return impl_->ring; }

}  // namespace cleave
