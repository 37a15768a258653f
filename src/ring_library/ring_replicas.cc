#include <cleave/ring_replicas.hpp>
#include <set>
#include <utility>

#include "ring/placed/replicas.h"
#include "ring_library/ring_error.h"
#include "ring_library/ring_impl.h"

namespace cleave {

// A ring and the table of its replicas.
struct [[gnu::visibility("hidden")]] RingReplicas::Impl {
  Impl(const Ring& made_of, const ring::Replication& replication)
      : ring(made_of), table(build(made_of, replication)) {
    for (const ring::Shortage& each : table.shortages()) {
      shortages.push_back({each.datacenter, each.wanted, each.missing, each.sharing});
    }
  }

  static ring::ReplicaTable build(const Ring& ring, const ring::Replication& replication) {
    std::vector<ring::Site> sites;
    sites.reserve(ring.nodes().size());
    for (const Ring::Node& node : ring.nodes()) {
      const NodeId id{static_cast<std::uint32_t>(sites.size()) + 1};
      sites.push_back({.node = id, .rack = node.rack, .datacenter = node.datacenter});
    }
    const std::vector<ring::Arc> arcs = RingAccess::of(ring).arcs();
    return ring_library::value_or_raise(ring::ReplicaTable::build(arcs, sites, replication));
  }

  Ring ring;
  ring::ReplicaTable table;
  std::vector<Shortage> shortages;
};

RingReplicas::RingReplicas(std::shared_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
RingReplicas::RingReplicas(const RingReplicas&) noexcept = default;
RingReplicas& RingReplicas::operator=(const RingReplicas&) noexcept = default;
RingReplicas::~RingReplicas() = default;

RingReplicas RingReplicas::simple(const Ring& ring, std::uint32_t replicas) {
  return RingReplicas(std::make_shared<const Impl>(ring, ring::Replication::simple(replicas)));
}

RingReplicas RingReplicas::over_racks(const Ring& ring,
                                      const std::map<std::string, std::uint32_t>& of_datacenters) {
  std::vector<ring::DatacenterReplicas> wanted;
  wanted.reserve(of_datacenters.size());
  for (const auto& [datacenter, replicas] : of_datacenters) {
    wanted.push_back({.datacenter = datacenter, .replicas = replicas});
  }
  return RingReplicas(
      std::make_shared<const Impl>(ring, ring::Replication::topology(std::move(wanted))));
}

RingReplicas RingReplicas::over_racks(const Ring& ring, std::uint32_t replicas) {
  const std::string& datacenter = ring.nodes().front().datacenter;
  for (const Ring::Node& node : ring.nodes()) {
    if (node.datacenter == datacenter) continue;
    ring_library::raise(RingError::Code::kInvalid,
                        "nodes stand in datacenters '" + datacenter + "' and '" + node.datacenter +
                            "': say how many replicas each of them is to hold");
  }
  return over_racks(ring, {{datacenter, replicas}});
}

std::vector<std::size_t> RingReplicas::locate(std::string_view key) const {
  const std::optional<std::uint64_t> token = impl_->ring.token_of(key);
  return token ? of_token(*token) : std::vector<std::size_t>{};
}

std::size_t RingReplicas::locate(std::string_view key, std::size_t* nodes) const noexcept {
  const std::optional<std::uint64_t> token = impl_->ring.token_of(key);
  if (!token) return 0;
  for (const NodeId node : impl_->table.of(Token{*token})) *nodes++ = node.value() - 1;
  return count();
}

std::vector<std::size_t> RingReplicas::of_token(std::uint64_t token) const {
  std::vector<std::size_t> nodes;
  nodes.reserve(count());
  for (const NodeId node : impl_->table.of(Token{token})) nodes.push_back(node.value() - 1);
  return nodes;
}

std::size_t RingReplicas::count() const noexcept { return impl_->table.replicas(); }

const std::vector<RingReplicas::Shortage>& RingReplicas::shortages() const noexcept {
  return impl_->shortages;
}

const Ring& RingReplicas::ring() const noexcept { return impl_->ring; }

}  // namespace cleave
