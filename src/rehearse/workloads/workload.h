// A workload: which keys there are, how much is asked of each from second to second, and what
// happens to the nodes meanwhile.
//
// Threads: one owner. Deterministic: the same seed, the same run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rehearse/workloads/scene.h"
#include "ring/scheme_spec.h"

namespace cleave::rehearse {

// What a workload is made for.
struct Setting {
  std::size_t nodes = 16;
  std::size_t keys = 40'000;
  std::uint64_t bytes = 230;  // of a key with its value (the median object at Twitter, OSDI 2020)
  std::uint32_t read_ppm = 950'000;
  std::uint64_t seed = 1;
};

// A node of the pool at the start, or one that joins.
struct NodeSpec {
  std::string name = {};
  std::string rack = {};
  std::uint32_t weight = 1;
  std::uint64_t memory_bytes_max = 0;  // 0 = no limit
  std::string hash_key = {};           // what the scheme hashes; empty: the name
};

// What happens to nodes at one second.
struct NodeEvent {
  enum class Kind : std::uint8_t { kJoins, kLeaves, kRackFails, kRackReturns };
  Kind kind = Kind::kJoins;
  NodeSpec node = {};     // kJoins
  std::string name = {};  // of the node that leaves, or of the rack
};

// What is different from the second before.
struct Change {
  bool loads = false;  // the scene was changed
  // Suddenly, so that a placement that was good is not any more. At such moments the report asks
  // what had to be moved at least.
  bool turn = false;
  std::vector<NodeEvent> events = {};
};

class Workload {
 public:
  Workload() = default;
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;
  virtual ~Workload() = default;

  // Nodes at the start.
  virtual std::vector<NodeSpec> nodes() const = 0;

  // How keys are placed; the tokens of the scene's keys are of this scheme.
  virtual ring::SchemeSpec scheme() const { return {.name = "vnode"}; }

  // How long it runs unless told otherwise.
  virtual seconds duration() const { return seconds{1'200}; }

  // Time between two looks at the scene; one second, longer where hours are simulated.
  virtual seconds step() const { return seconds{1}; }

  // Whether the load stops changing, so that a placement can be called final.
  virtual bool rests() const { return true; }

  // Sets the scene of this second. Called with 0, then with each next step. The keys keep their
  // number, names and order.
  virtual Change set(seconds at, Scene& scene) = 0;
};

// Names as in `workload_names`. Errors: kInvalid, names what is wrong.
Result<std::unique_ptr<Workload>> make_workload(std::string_view name, const Setting& setting);

// One line a name, for people: "zipf:A  ...".
std::vector<std::string> workload_names();

// "n1", "n2", ... of weight 1, each in a rack of its own.
std::vector<NodeSpec> equal_nodes(std::size_t count);

// What keeps so many nodes of weight 1 busy by so many millionths.
std::uint64_t load_of(std::size_t nodes, std::uint32_t utilisation_ppm);

}  // namespace cleave::rehearse
