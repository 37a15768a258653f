// Where the copies of a key go: three of them, never two in one rack; what is lost with a rack; and
// what the library says when racks do not suffice.
#include <cleave/ring_replicas.hpp>
#include <cstdio>
#include <string>
#include <vector>

using cleave::Ring;
using cleave::RingReplicas;

namespace {

void print_shortages(const RingReplicas& replicas) {
  if (replicas.shortages().empty()) std::printf("racks and nodes suffice\n");
  for (const RingReplicas::Shortage& each : replicas.shortages()) {
    std::printf("'%s': %u of %u replicas missing, %u in a rack that already holds one\n",
                each.datacenter.c_str(), each.missing, each.wanted, each.sharing);
  }
}

}  // namespace

int main() {
  std::vector<Ring::Node> nodes;
  for (int i = 0; i < 6; ++i) {
    nodes.push_back({"db" + std::to_string(i), 1, i < 2 ? "r1" : i < 4 ? "r2" : "r3", "east"});
  }
  const Ring ring("vnode", nodes);
  const RingReplicas replicas = RingReplicas::over_racks(ring, 3);
  print_shortages(replicas);

  for (const char* key : {"user:1", "user:2", "user:3"}) {
    std::printf("%s:", key);
    for (const std::size_t node : replicas.locate(key)) {
      std::printf(" %s(%s)", ring.nodes()[node].name.c_str(), ring.nodes()[node].rack.c_str());
    }
    std::printf("\n");
  }

  // Rack r2 burns down: of every key, two copies are left.
  int fewest = 3;
  for (int i = 0; i < 10'000; ++i) {
    int left = 0;
    for (const std::size_t node : replicas.locate("user:" + std::to_string(i))) {
      left += ring.nodes()[node].rack != "r2";
    }
    fewest = left < fewest ? left : fewest;
  }
  std::printf("without rack r2, every key has at least %d copies\n", fewest);

  // Four copies on three racks: it is done as well as it can be, and said.
  print_shortages(RingReplicas::over_racks(ring, 4));

  // Two datacenters, each with a number of its own.
  const Ring both = ring.with_node({"db6", 1, "r1", "west"}).with_node({"db7", 1, "r2", "west"});
  const RingReplicas spread = RingReplicas::over_racks(both, {{"east", 2}, {"west", 3}});
  std::printf("over two datacenters: %zu copies\n", spread.count());
  print_shortages(spread);
}
