// The Rust crates hashring and anchorhash, behind the C functions of bench/micro/rust.
#include "ring_bench.h"

extern "C" {
struct RingPeer;
RingPeer* ring_peer_new(std::uint32_t kind, std::uint32_t nodes, std::uint32_t points);
void ring_peer_free(RingPeer* ring);
std::uint32_t ring_peer_owner(const RingPeer* ring, const char* key);  // of 16 bytes
void ring_peer_add(RingPeer* ring, std::uint32_t node, std::uint32_t points);
}

namespace cleave::bench {
namespace {

enum class Kind : std::uint8_t { kSip, kXxh3, kAnchor };  // numbers of ring_peer_new

struct Freed {
  void operator()(RingPeer* ring) const { ring_peer_free(ring); }
};

struct Crate {
  std::unique_ptr<RingPeer, Freed> ring;

  std::size_t owner(std::string_view key) const { return ring_peer_owner(ring.get(), key.data()); }
};

Crate crate(Kind kind, const Size& size) {
  return {std::unique_ptr<RingPeer, Freed>(
      ring_peer_new(static_cast<std::uint32_t>(kind), size.nodes, size.points_per_node))};
}

void register_crate(const std::string& name, Kind kind) {
  const auto make = [kind](const Size& size) { return crate(kind, size); };
  const auto add = [kind](benchmark::State& state, const Size& size) {
    for (auto _ : state) {
      state.PauseTiming();
      const Crate made = crate(kind, size);
      state.ResumeTiming();
      ring_peer_add(made.ring.get(), size.nodes, size.points_per_node);
    }
  };
  for (const Size& size : kSizes) register_lookups(name, make, size);
  for (const Size& size : kRebuiltSizes) {
    register_build(name, make, size);
    register_add(name, add, size);
  }
}

}  // namespace

void register_rust() {
  register_crate("Rust hashring, SipHash", Kind::kSip);
  register_crate("Rust hashring, XXH3", Kind::kXxh3);
  register_crate("Rust anchorhash, XXH3", Kind::kAnchor);
}

}  // namespace cleave::bench
