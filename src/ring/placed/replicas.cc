#include "ring/placed/replicas.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace cleave::ring {
namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// A datacenter that is to hold replicas, and what its nodes with arcs offer.
struct Datacenter {
  std::uint32_t wanted = 0;
  std::uint32_t nodes = 0;
  std::uint32_t racks = 0;

  std::uint32_t replicas() const { return std::min(wanted, nodes); }
  // How many replicas may stand in a rack that has one already.
  std::uint32_t repeats() const { return wanted > racks ? wanted - racks : 0; }
  Shortage shortage(std::string name) const {
    return {.datacenter = std::move(name),
            .wanted = wanted,
            .missing = wanted - replicas(),
            .sharing = replicas() > racks ? replicas() - racks : 0};
  }
};

// The sites as numbers. A node without arcs, or in a datacenter that holds nothing, is in none.
struct Topology {
  std::vector<Datacenter> datacenters;       // in the order of what is wanted
  std::vector<std::uint32_t> rack_of;        // of a place; kNobody = holds no replica
  std::vector<std::uint32_t> datacenter_of;  // of a rack
};

Topology topology_of(const ArcWalk& walk, std::span<const Site> sites,
                     const Replication& replication) {
  Topology topology;
  std::map<std::string_view, std::uint32_t> datacenters;
  for (const DatacenterReplicas& each : replication.wanted) {
    datacenters.emplace(each.datacenter, static_cast<std::uint32_t>(datacenters.size()));
    topology.datacenters.push_back({.wanted = each.replicas});
  }
  std::vector<bool> owns(sites.size());
  for (std::uint32_t arc = 0; arc < walk.arcs(); ++arc) owns[walk.place(arc)] = true;

  const bool simple = replication.strategy == Replication::Strategy::kSimple;
  CHECK(!simple || datacenters.size() == 1);  // which stands for all of them
  std::map<std::pair<std::string_view, std::string_view>, std::uint32_t> racks;
  topology.rack_of.assign(sites.size(), kNobody);
  for (std::size_t place = 0; place < sites.size(); ++place) {
    const Site& site = sites[place];
    const auto datacenter = simple ? datacenters.begin() : datacenters.find(site.datacenter);
    if (!owns[place] || datacenter == datacenters.end()) continue;
    const auto next = static_cast<std::uint32_t>(topology.datacenter_of.size());
    std::uint32_t rack = next;
    if (!simple && !site.rack.empty()) {
      rack = racks.try_emplace({site.datacenter, site.rack}, next).first->second;
    }
    topology.rack_of[place] = rack;
    ++topology.datacenters[datacenter->second].nodes;
    if (rack != next) continue;
    topology.datacenter_of.push_back(datacenter->second);
    ++topology.datacenters[datacenter->second].racks;
  }
  return topology;
}

// Members of each of several groups, the one met last in front.
class RecentFirst {
 public:
  RecentFirst(std::size_t members, std::size_t groups)
      : next_(members, kNobody), previous_(members, kNobody), first_(groups, kNobody) {}

  std::uint32_t first(std::uint32_t group) const { return first_[group]; }
  std::uint32_t next(std::uint32_t member) const { return next_[member]; }

  void meet(std::uint32_t group, std::uint32_t member) {
    if (first_[group] == member) return;
    if (previous_[member] != kNobody) next_[previous_[member]] = next_[member];
    if (next_[member] != kNobody) previous_[next_[member]] = previous_[member];
    previous_[member] = kNobody;
    next_[member] = first_[group];
    if (first_[group] != kNobody) previous_[first_[group]] = member;
    first_[group] = member;
  }

 private:
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> previous_;
  std::vector<std::uint32_t> first_;  // of a group
};

// Goes through the arcs against the walk, so that what was met last comes first in the walk that
// begins at the present arc: no walk is ever made, and none can be long.
class Walker {
 public:
  explicit Walker(const Topology& topology)
      : topology_(topology),
        nodes_(topology.rack_of.size(), topology.datacenters.size()),
        racks_(topology.datacenter_of.size(), topology.datacenters.size()),
        met_at_(topology.rack_of.size()),
        node_of_rack_(topology.datacenter_of.size()),
        rack_taken_at_(topology.datacenter_of.size(), kNever) {}

  // Times go down by one from call to call.
  void meet(std::uint32_t place, std::uint64_t time) {
    CHECK(time < now_ && place < topology_.rack_of.size());
    now_ = time;
    const std::uint32_t rack = topology_.rack_of[place];
    if (rack == kNobody) return;
    const std::uint32_t datacenter = topology_.datacenter_of[rack];
    nodes_.meet(datacenter, place);
    racks_.meet(datacenter, rack);
    met_at_[place] = time;
    node_of_rack_[rack] = place;
  }

  // Places, in the order of the walk. Valid until the next call.
  std::span<const std::uint32_t> replicas() {
    taken_.clear();
    for (std::uint32_t each = 0; each < topology_.datacenters.size(); ++each) {
      const std::size_t end = taken_.size() + topology_.datacenters[each].replicas();
      take_while_racks_may_repeat(each, end);
      take_other_racks(each, end);
    }
    std::ranges::sort(taken_, {}, [&](std::uint32_t place) { return met_at_[place]; });
    return taken_;
  }

 private:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  void take_while_racks_may_repeat(std::uint32_t datacenter, std::size_t end) {
    std::uint32_t repeats = topology_.datacenters[datacenter].repeats();
    std::uint32_t place = nodes_.first(datacenter);
    for (; repeats > 0 && taken_.size() < end; place = nodes_.next(place)) {
      CHECK(place != kNobody);  // as many were met as are taken
      std::uint64_t& rack_taken_at = rack_taken_at_[topology_.rack_of[place]];
      if (rack_taken_at == now_) --repeats;
      rack_taken_at = now_;
      taken_.push_back(place);
    }
  }

  void take_other_racks(std::uint32_t datacenter, std::size_t end) {
    std::uint32_t rack = racks_.first(datacenter);
    for (; taken_.size() < end; rack = racks_.next(rack)) {
      CHECK(rack != kNobody);
      if (rack_taken_at_[rack] != now_) taken_.push_back(node_of_rack_[rack]);
    }
  }

  const Topology& topology_;
  RecentFirst nodes_;
  RecentFirst racks_;
  std::vector<std::uint64_t> met_at_;         // of a place
  std::vector<std::uint32_t> node_of_rack_;   // the node of it that was met last
  std::vector<std::uint64_t> rack_taken_at_;  // by `replicas`
  std::vector<std::uint32_t> taken_;
  std::uint64_t now_ = kNever;
};

Result<void> check_wanted(const Replication& replication) {
  if (replication.strategy == Replication::Strategy::kSimple && replication.wanted.size() != 1) {
    return fail(Code::kInvalid, "the simple strategy has one number of replicas");
  }
  std::set<std::string_view> names;
  std::uint64_t sum = 0;
  for (const DatacenterReplicas& each : replication.wanted) {
    sum += each.replicas;
    if (names.insert(each.datacenter).second) continue;
    return fail(Code::kInvalid, "datacenter '" + each.datacenter + "' is wanted twice");
  }
  if (sum == 0) return fail(Code::kInvalid, "no replicas are wanted: want at least one");
  if (sum <= kReplicasMax) return {};
  return fail(Code::kExhausted, std::to_string(sum) + " replicas of a token, at most " +
                                    std::to_string(kReplicasMax) + " are possible");
}

}  // namespace

Replication Replication::simple(std::uint32_t replicas) {
  return {.strategy = Strategy::kSimple, .wanted = {{.datacenter = {}, .replicas = replicas}}};
}

Replication Replication::topology(std::vector<DatacenterReplicas> wanted) {
  return {.strategy = Strategy::kTopology, .wanted = std::move(wanted)};
}

std::string to_string(const Shortage& shortage) {
  std::string text;
  if (!shortage.datacenter.empty()) text = "datacenter '" + shortage.datacenter + "': ";
  text += std::to_string(shortage.missing) + " of " + std::to_string(shortage.wanted) +
          " replicas missing, " + std::to_string(shortage.sharing) +
          " in a rack that already holds one";
  return text;
}

Result<ReplicaTable> ReplicaTable::build(std::span<const Arc> arcs, std::span<const Site> sites,
                                         const Replication& replication) {
  if (auto good = check_wanted(replication); !good) return std::unexpected(good.error());
  std::vector<NodeId> nodes;
  nodes.reserve(sites.size());
  for (const Site& site : sites) nodes.push_back(site.node);
  auto walk = ArcWalk::build(arcs, nodes);
  if (!walk) return std::unexpected(walk.error());

  ReplicaTable table(std::move(*walk));
  const Topology topology = topology_of(table.walk_, sites, replication);
  for (std::size_t i = 0; i < topology.datacenters.size(); ++i) {
    const Datacenter& each = topology.datacenters[i];
    table.replicas_ += each.replicas();
    Shortage shortage = each.shortage(replication.wanted[i].datacenter);
    if (shortage.missing + shortage.sharing > 0) table.shortages_.push_back(std::move(shortage));
  }
  const std::uint32_t count = table.walk_.arcs();
  if (std::uint64_t{count} * table.replicas_ > kReplicaEntriesMax) {
    return fail(Code::kExhausted, std::to_string(count) + " arcs with " +
                                      std::to_string(table.replicas_) +
                                      " replicas each are more than a table may hold");
  }
  table.nodes_.resize(std::size_t{count} * table.replicas_);
  Walker walker(topology);
  // Once around to meet everybody, and once more to write down what was met.
  for (std::uint64_t time = std::uint64_t{count} * 2; time-- > 0;) {
    const auto arc = static_cast<std::uint32_t>(time % count);
    walker.meet(table.walk_.place(arc), time);
    if (time >= count) continue;
    std::size_t at = std::size_t{arc} * table.replicas_;
    const auto places = walker.replicas();
    CHECK(places.size() == table.replicas_);
    for (const std::uint32_t place : places) table.nodes_[at++] = nodes[place];
  }
  return table;
}

}  // namespace cleave::ring
