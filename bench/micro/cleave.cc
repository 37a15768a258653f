// cleave's own rings: placements of several schemes, the search alone, and the router's view.
#include "base/check.h"
#include "base/rng.h"
#include "ring/edits/edits.h"
#include "ring/schemes/placement.h"
#include "ring/schemes/placement_builder.h"
#include "ring/schemes/placement_join.h"
#include "ring/view/view.h"
#include "ring_bench.h"

namespace cleave::bench {
namespace {

using ring::PlacedNode;
using ring::Placement;
using ring::SchemeSpec;

std::vector<PlacedNode> nodes_of(std::uint32_t count) {
  std::vector<PlacedNode> nodes;
  for (std::uint32_t i = 0; i < count; ++i) nodes.push_back({node_name(i)});
  return nodes;
}

struct Placed {
  std::shared_ptr<const Placement> placement;

  std::size_t owner(std::string_view key) const { return *placement->owner(key); }
  void owners(std::span<const std::string_view> keys, std::span<std::size_t> found) const {
    placement->owners(keys, found);
  }
};

// A scheme that has 100 points a node by itself, or the option `points`.
SchemeSpec sized(SchemeSpec spec, const Size& size) {
  if (spec.name.ends_with("vnode")) {
    spec.options["points"] = std::to_string(size.points_per_node);
  }
  return spec;
}

auto maker(const SchemeSpec& spec) {
  return [spec](const Size& size) {
    const auto placement = place(sized(spec, size), nodes_of(size.nodes));
    CHECK(placement);
    return Placed{*placement};
  };
}

// What is left of a look-up when somebody else has hashed the key. Drawing a random token is part
// of the time, about 1 ns.
void register_search(const Size& size) {
  const auto search = [size](benchmark::State& state) {
    const auto made = maker({"murmur64a-vnode"})(size);
    Rng rng(1);
    for (auto _ : state) benchmark::DoNotOptimize(made.placement->owner(Token{rng.next()}));
  };
  benchmark::RegisterBenchmark(("search/cleave/" + std::to_string(size.points())).c_str(), search);
}

auto adder(const SchemeSpec& spec) {
  return [spec](benchmark::State& state, const Size& size) {
    auto builder = ring::PlacementBuilder::start(sized(spec, size), nodes_of(size.nodes));
    CHECK(builder);
    const PlacedNode joiner{"joiner"};
    for (auto _ : state) {
      CHECK(builder->add(joiner));
      state.PauseTiming();
      CHECK(builder->remove(joiner.name));
      state.ResumeTiming();
    }
  };
}

// The same from a placement alone, which keeps no points.
auto joiner(const SchemeSpec& spec) {
  return [spec](benchmark::State& state, const Size& size) {
    std::vector<PlacedNode> nodes = nodes_of(size.nodes);
    const auto before = place(sized(spec, size), nodes);
    CHECK(before);
    nodes.push_back({"joiner"});
    for (auto _ : state) {
      const auto after = ring::place_joined(**before, sized(spec, size), nodes);
      CHECK(after);
      benchmark::DoNotOptimize(&after);
    }
  };
}

ring::RingSnapshot view_of(std::uint32_t count) {
  ring::Creation creation{
      .pool = "bench", .mark = "m", .nodes = {}, .mode = ring::Mode::kAuto, .now = {}};
  for (std::uint32_t i = 0; i < count; ++i) {
    ring::Node node;
    node.name = node_name(i);
    node.members = {{.address = node.name + ":6379", .rack = ""}};
    creation.nodes.push_back(node);
  }
  const auto document = create(creation);
  CHECK(document);
  const auto view = ring::RingView::build(*document);
  CHECK(view);
  return *view;
}

struct Viewed {
  ring::RingSnapshot view;

  std::size_t owner(std::string_view key) const { return view->owner(view->token_of(key)).value(); }
};

void register_view() {
  constexpr std::uint32_t kPoints = ring::kPointsPerWeight;
  const auto make = [](const Size& size) { return Viewed{view_of(size.nodes)}; };
  for (const std::uint32_t nodes : {4U, 100U, 1'000U}) {
    const Size size{nodes, kPoints};
    register_lookups("router's view", make, size);
    benchmark::RegisterBenchmark(("build/router's view/" + std::to_string(size.points())).c_str(),
                                 [nodes](benchmark::State& state) {
                                   const ring::Document document = view_of(nodes)->document();
                                   for (auto _ : state) {
                                     benchmark::DoNotOptimize(ring::RingView::build(document));
                                   }
                                 })
        ->Unit(benchmark::kMillisecond);
  }
}

void register_scheme(const std::string& name, const SchemeSpec& spec) {
  for (const Size& size : kSizes) register_lookups(name, maker(spec), size);
  for (const Size& size : kRebuiltSizes) {
    register_build(name, maker(spec), size);
    register_add(name, adder(spec), size);
    if (spec.name.ends_with("vnode")) {
      register_add(name + ", without a builder", joiner(spec), size);
    }
  }
}

}  // namespace

void register_cleave() {
  register_scheme("cleave vnode", {"vnode"});
  register_scheme("cleave murmur64a-vnode", {"murmur64a-vnode"});
  register_scheme("cleave libmemcached-ketama, fnv1a_64",
                  {"libmemcached-ketama", {{"hash", "fnv1a_64"}}});
  // What MD5 costs a build: 25 texts of four points.
  for (const Size& size : kRebuiltSizes) {
    register_build("cleave npm-hashring, md5", maker({"npm-hashring", {{"points", "25"}}}), size);
  }
  // The size that people have.
  constexpr Size kUsual{100, 160};
  register_lookups("cleave vnode", maker({"vnode"}), kUsual);
  register_lookups("cleave murmur64a-vnode", maker({"murmur64a-vnode"}), kUsual);
  for (const std::string hash : {"fnv1a_64", "murmur", "md5"}) {
    register_lookups("cleave libmemcached-ketama-weighted, " + hash,
                     maker({"libmemcached-ketama-weighted", {{"hash", hash}}}), kUsual);
  }
  register_search(kUsual);
  for (const Size& size : kSizes) register_search(size);
  register_view();
}

}  // namespace cleave::bench
