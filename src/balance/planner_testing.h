// Four nodes with a load of the test's choice, for the tests of single rules of the planner.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "balance/closed_pool_testing.h"

namespace cleave::balance {

inline constexpr UnixMillis kNow{1'700'000'000'000};
inline constexpr std::uint64_t kFair = 200'000'000;  // of each of four nodes: a fifth of a core

// Engaged already unless the test says otherwise.
class PlannerTest : public ::testing::Test {
 protected:
  PlannerTest() {
    document_ = test_document(4);
    document_.cuts.clear();
    for (std::uint32_t node = 1; node <= 4; ++node) {
      input_.nodes.push_back({.id = NodeId{node}, .keys = 10'000, .bytes_per_key = 100});
    }
    input_.trigger.engaged = Engaged::kHot;
    input_.now = kNow;
    input_.seed = 1;
  }

  // `percent[i]` of the fair load on node i + 1, spread over `pieces` of its ranges, the same in
  // each, by one well sampled token in the middle.
  void load(const std::vector<std::uint64_t>& percent, std::size_t pieces = 40) {
    view_ = test_view(document_);
    loads_.clear();
    tokens_.clear();
    std::map<NodeId, std::size_t> left;
    for (std::size_t at = 0; at < percent.size(); ++at) {
      left[NodeId{static_cast<std::uint32_t>(at + 1)}] = pieces;
    }
    for (const ring::Entry& entry : view_->entries()) {
      const std::size_t node = entry.node.value() - 1;
      std::uint64_t load = 0;
      if (left[entry.node] > 0 && node < percent.size()) {
        --left[entry.node];
        load = kFair / 100 * percent[node] / pieces;
        const std::uint64_t middle = entry.range.first.value() / 2 + entry.range.last.value() / 2;
        tokens_.push_back({Token{middle}, load, 100});
      }
      loads_.push_back(load);
    }
  }

  // The same loads on the entries of the view as it is now, which a move may have divided.
  void loads_of_tokens() {
    loads_.clear();
    for (const ring::Entry& entry : view_->entries()) {
      std::uint64_t load = 0;
      for (const heat::TokenLoad& each : tokens_)
        load += entry.range.contains(each.token) ? each.load : 0;
      loads_.push_back(load);
    }
  }

  Plan planned() {
    if (loads_.empty()) load({100, 100, 100, 100});
    input_.view = view_;
    heat::Picture& picture = input_.picture;
    picture = {.epoch = view_->epoch(), .observed = seconds{3'600}, .tokens = tokens_};
    std::map<NodeId, heat::NodeLoad> nodes;
    for (const ring::Node& node : document_.nodes) nodes[node.id].node = node.id;
    for (std::size_t at = 0; at < loads_.size(); ++at) {
      const ring::Entry& entry = view_->entries()[at];
      heat::RangeLoad range{.range = entry.range, .node = entry.node};
      range.load = {.tick = loads_[at], .mean = loads_[at], .slow = loads_[at], .peak = loads_[at]};
      nodes[entry.node].load += range.load;
      picture.ranges.push_back(range);
    }
    for (const auto& [id, node] : nodes) picture.nodes.push_back(node);
    picture.sources = sources_;
    for (const heat::TokenLoad& each : tokens_) {
      picture.keys.push_back({"key", each.token, NodeId{1}, each.load, 0});
    }
    return plan(input_);
  }

  std::vector<Why> reasons(const Plan& plan) const {
    std::vector<Why> result;
    for (const Verdict& each : plan.verdicts) result.push_back(each.why);
    return result;
  }

  NodeFacts& facts(std::uint32_t node) { return input_.nodes[node - 1]; }

  ring::Document document_;
  ring::RingSnapshot view_;
  std::vector<std::uint64_t> loads_;
  std::vector<heat::TokenLoad> tokens_;
  std::vector<heat::Source> sources_{{.session = SessionId{"router"}, .recorder = 1, .load = 1}};
  Input input_;
};

}  // namespace cleave::balance
