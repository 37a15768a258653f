#include "sim/world/ownership_checker.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"

namespace cleave::sim {
namespace {

class Ownership : public testing::Test {
 protected:
  Ownership() {
    ring::Creation creation{.pool = "main", .mark = "mark", .nodes = {}, .mode = {}, .now = {}};
    for (const char* name : {"left", "right"}) {
      ring::Node node;
      node.name = name;
      node.members = {
          {.address = "10.0.0." + std::to_string(creation.nodes.size()) + ":6379", .rack = ""}};
      creation.nodes.push_back(node);
    }
    view_ = *ring::RingView::build(*ring::create(creation));
    owner_ = view_->owner(view_->token_of("key"));
    other_ = view_->document().nodes[view_->document().nodes[0].id == owner_ ? 1 : 0].id;
  }

  bool allowed(NodeId node, const std::vector<std::string>& args, std::string_view connection) {
    OwnershipChecker checker({"key"});
    checker.see(*view_, node, args, connection);
    return checker.violations().empty();
  }

  ring::RingSnapshot view_;
  NodeId owner_;
  NodeId other_;
};

TEST_F(Ownership, ARoutersCommandsRunOnlyAtTheOwner) {
  EXPECT_TRUE(allowed(owner_, {"GET", "key"}, "cleave:r1"));
  EXPECT_FALSE(allowed(other_, {"GET", "key"}, "cleave:r1"));
  EXPECT_FALSE(allowed(other_, {"MSET", "x", "1", "key", "2"}, "cleave:r1"));
  EXPECT_TRUE(allowed(other_, {"GET", "not a client's"}, "cleave:r1"));
  EXPECT_TRUE(allowed(other_, {"PING"}, "cleave:r1"));
}

TEST_F(Ownership, ADriverWritesOnlyElsewhere) {
  EXPECT_TRUE(allowed(other_, {"RESTORE", "key", "0", "v"}, "cleave:r1.t1"));
  EXPECT_FALSE(allowed(owner_, {"RESTORE", "key", "0", "v"}, "cleave:r1.t1"));
  EXPECT_FALSE(allowed(owner_, {"UNLINK", "key"}, "cleave:r1.t1"));
  EXPECT_TRUE(allowed(owner_, {"DUMP", "key"}, "cleave:r1.t1"));
}

TEST_F(Ownership, OthersAreNotJudged) { EXPECT_TRUE(allowed(other_, {"SET", "key", "v"}, "")); }

}  // namespace
}  // namespace cleave::sim
