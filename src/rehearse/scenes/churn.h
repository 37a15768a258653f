// The demonstration `churn`: a node joins, another leaves. What the naive ring does, what hash % N
// does, and what cleave does with the same nodes and keys.
//
// Pure: the same numbers on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cleave::rehearse {

// Nodes and keys of the demonstration.
struct ChurnInput {
  std::vector<std::string> nodes;      // the last one joins later; the last but one then leaves
  std::vector<std::uint32_t> weights;  // of the nodes; cleave only, the naive ring has none
  std::vector<std::string> keys;
  std::uint32_t naive_points = 150;  // of a node on the naive ring
};

// CacheServer-A, -B, -C of equal weight; data_key_0 ... data_key_9999.
ChurnInput churn_input();

// What a node has at the end of a stage.
struct ChurnNode {
  std::string name;
  std::uint32_t weight = 1;
  std::uint64_t keys = 0;
  std::uint64_t share_ppm = 0;  // of the ring; cleave only

  friend bool operator==(const ChurnNode&, const ChurnNode&) = default;
};

// One arrangement and what it took to get there from the one before.
struct ChurnStage {
  std::string name;  // "start", "joined", "left"
  std::vector<ChurnNode> nodes;
  std::uint64_t keys_moved = 0;
};

// Which node a key is on.
struct WatchedKey {
  std::string key;
  std::string at_start;
  std::string after_join;
  std::string after_leave;
};

// The naive ring in three stages.
struct NaiveChurn {
  std::vector<ChurnStage> stages;
  std::vector<WatchedKey> watched;      // product:12345, user:session:abcde, item:999
  std::vector<std::string> first_keys;  // owners of the first 60 keys after the join
};
NaiveChurn naive_churn(const ChurnInput& input);

// hash % N: keys that change place.
struct ModuloChurn {
  std::uint64_t keys = 0;
  std::uint64_t moved_by_join = 0;
  std::uint64_t moved_by_leave = 0;
};
ModuloChurn modulo_churn(const ChurnInput& input);

// A stage, and how its price compares with the least.
struct CleaveChurnStage {
  ChurnStage stage;
  std::uint64_t moved_ppm = 0;        // share of the ring that changed hands
  std::uint64_t moved_least_ppm = 0;  // that had to, for every node to have its weight's share
  std::uint64_t moves = 0;
  std::uint64_t cuts = 0;  // in the document at the end of the stage
};

// The same three stages with cleave.
struct CleaveChurn {
  std::vector<CleaveChurnStage> stages;
  std::uint64_t reads_missed = 0;  // keys whose owner did not hold them, over every epoch
};
CleaveChurn cleave_churn(const ChurnInput& input);

}  // namespace cleave::rehearse
