// What every ring is measured with: the same keys, the same loops, in one program.
//
//   cached     4,096 keys of 16 bytes over and over: keys, and a small ring, stay in the cache
//   uncached   2^20 keys, each asked once a round: keys and large rings come from memory
//   dependent  as cached, but the next key depends on the last answer: look-ups cannot overlap
//   batch      as cached and as uncached, 64 keys a call, for rings that can look up many at once
//   build      all nodes from nothing
//   add        one node more, until the ring answers with it
//   memory     bytes a point that the ring holds, by the allocator's own count
//
// Names: what/ring/points. Threads: one.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cleave::bench {

// 10^2 to 10^6 points at 100 a node. One node alone would own all, which is no search: 10^2 points
// are ten nodes' where the points of a node can be chosen.
struct Size {
  std::uint32_t nodes;
  std::uint32_t points_per_node;

  std::uint32_t points() const { return nodes * points_per_node; }
};
inline constexpr std::array<Size, 5> kSizes = {
    {{10, 10}, {10, 100}, {100, 100}, {1'000, 100}, {10'000, 100}}};
inline constexpr std::array<Size, 2> kRebuiltSizes = {{{100, 100}, {10'000, 100}}};

inline std::string node_name(std::uint32_t index) { return "node-" + std::to_string(index); }

using Key = std::array<char, 16>;

// 2^20 of them, in no order.
const std::vector<Key>& keys();

inline std::string_view text(const Key& key) { return {key.data(), key.size()}; }

// Bytes in use of the process' heap, as glibc counts them.
std::size_t heap_bytes();

template <class Ring>
void ask(benchmark::State& state, const Ring& ring, std::size_t key_count) {
  const std::vector<Key>& all = keys();
  std::size_t at = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(ring.owner(text(all[at])));
    at = (at + 1) % key_count;
  }
}

template <class Ring>
void ask_dependent(benchmark::State& state, const Ring& ring, std::size_t key_count) {
  const std::vector<Key>& all = keys();
  std::size_t owner = 0;
  std::size_t step = 0;  // without it the walk would soon run in a small circle
  for (auto _ : state) owner = ring.owner(text(all[(owner + ++step) % key_count]));
  benchmark::DoNotOptimize(owner);
}

template <class Ring>
concept LooksUpMany = requires(const Ring& ring, std::span<const std::string_view> keys,
                               std::span<std::size_t> owners) { ring.owners(keys, owners); };

template <LooksUpMany Ring>
void ask_many(benchmark::State& state, const Ring& ring, std::size_t key_count) {
  constexpr std::size_t kKeysACall = 64;
  const std::vector<Key>& all = keys();
  std::array<std::string_view, kKeysACall> asked;
  std::array<std::size_t, kKeysACall> owners{};
  std::size_t at = 0;
  while (state.KeepRunningBatch(kKeysACall)) {
    for (std::size_t i = 0; i < kKeysACall; ++i) asked[i] = text(all[at + i]);
    ring.owners(asked, owners);
    benchmark::DoNotOptimize(owners);
    at = (at + kKeysACall) % key_count;
  }
}

// A ring that is made when it is first asked for, and kept.
template <class Ring>
class Lazy {
 public:
  explicit Lazy(std::function<Ring()> make) : make_(std::move(make)) {}
  const Ring& get() {
    if (!ring_) ring_ = std::make_unique<Ring>(make_());
    return *ring_;
  }

 private:
  std::function<Ring()> make_;
  std::unique_ptr<Ring> ring_;
};

// Registers the look-ups of one ring. `make(size)` gives a value with `owner(key)`.
template <class Make>
void register_lookups(const std::string& name, Make make, const Size& size) {
  constexpr std::size_t kFewKeys = 4'096;
  constexpr std::size_t kManyKeys = std::size_t{1} << 20U;
  using Ring = decltype(make(size));
  const auto ring = std::make_shared<Lazy<Ring>>([=] { return make(size); });
  const std::string suffix = "/" + name + "/" + std::to_string(size.points());
  benchmark::RegisterBenchmark(("cached" + suffix).c_str(),
                               [=](benchmark::State& state) { ask(state, ring->get(), kFewKeys); });
  benchmark::RegisterBenchmark(("uncached" + suffix).c_str(), [=](benchmark::State& state) {
    ask(state, ring->get(), kManyKeys);
  });
  benchmark::RegisterBenchmark(("dependent" + suffix).c_str(), [=](benchmark::State& state) {
    ask_dependent(state, ring->get(), kFewKeys);
  });
  if constexpr (LooksUpMany<Ring>) {
    benchmark::RegisterBenchmark(("cached, batch" + suffix).c_str(), [=](benchmark::State& state) {
      ask_many(state, ring->get(), kFewKeys);
    });
    benchmark::RegisterBenchmark(
        ("uncached, batch" + suffix).c_str(),
        [=](benchmark::State& state) { ask_many(state, ring->get(), kManyKeys); });
  }
}

// Registers the build of a ring, and what it holds.
template <class Make>
void register_build(const std::string& name, Make make, const Size& size) {
  const std::string suffix = "/" + name + "/" + std::to_string(size.points());
  benchmark::RegisterBenchmark(("build" + suffix).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      const auto ring = make(size);
      benchmark::DoNotOptimize(&ring);
    }
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(("memory" + suffix).c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      const std::size_t before = heap_bytes();
      const auto ring = make(size);
      benchmark::DoNotOptimize(&ring);
      state.counters["bytes"] = static_cast<double>(heap_bytes() - before) / size.points();
    }
  })->Iterations(1);
}

// Registers how long a change of a node takes: `change(state, size)` runs it.
template <class Change>
void register_add(const std::string& name, Change change, const Size& size) {
  const std::string label = "add/" + name + "/" + std::to_string(size.points());
  benchmark::RegisterBenchmark(label.c_str(), [=](benchmark::State& state) { change(state, size); })
      ->Unit(benchmark::kMillisecond)
      ->Iterations(10);
}

// Each in its own file.
void register_cleave();
void register_libmemcached();
void register_rust();

}  // namespace cleave::bench
