#include "app/config/pool_file.h"

#include <gtest/gtest.h>

namespace cleave::app {
namespace {

constexpr const char* kPeer = CLEAVE_TESTDATA "/nutcracker.yml";
constexpr const char* kOwn = CLEAVE_TESTDATA "/small.yaml";

Code code_of(const PoolFile& file) {
  const auto pool = read_pool_file(file);
  EXPECT_FALSE(pool);
  return pool ? Code::kTimeout : pool.error().code;
}

TEST(ReadPoolFile, ReadsThatOfAPeer) {
  const auto pool = read_pool_file({.path = kPeer, .from = {}, .pool = "alpha"});
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ(pool->scheme.name, "twemproxy-ketama");
  EXPECT_EQ(pool->server_password, "s3cret");
  ASSERT_EQ(pool->nodes.size(), 2U);
  EXPECT_EQ(pool->nodes[1].name, "second");
  EXPECT_TRUE(read_pool_file({.path = kPeer, .from = "twemproxy", .pool = "beta"}));
}

TEST(ReadPoolFile, ReadsCleavesOwn) {
  const auto pool = read_pool_file({.path = kOwn, .from = {}, .pool = {}});
  ASSERT_TRUE(pool) << pool.error().message;
  EXPECT_EQ(pool->scheme.name, "vnode");
  EXPECT_FALSE(pool->nodes.empty());
  EXPECT_FALSE(pool->listener.empty());
  EXPECT_EQ(read_pool_file({.path = kOwn, .from = {}, .pool = pool->name})->name, pool->name);
}

// A file with a gap between positions, and what a peer's file with the same gap says.
TEST(ReadPoolFile, KeepsPositions) {
  const auto own = read_pool_file({.path = CLEAVE_TESTDATA "/gap.yaml", .from = {}, .pool = {}});
  const auto peer = read_pool_file({.path = CLEAVE_TESTDATA "/gap.cfg", .from = {}, .pool = {}});
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_TRUE(peer) << peer.error().message;
  EXPECT_EQ(own->nodes, peer->nodes);
  EXPECT_EQ(own->nodes[1].position, 4U);
  EXPECT_EQ(own->nodes[2].position, 5U);
}

TEST(ReadPoolFile, TellsWhatItCannotRead) {
  EXPECT_EQ(code_of({.path = kPeer, .from = {}, .pool = {}}), Code::kInvalid);  // two pools
  EXPECT_EQ(code_of({.path = kPeer, .from = {}, .pool = "gamma"}), Code::kNotFound);
  EXPECT_EQ(code_of({.path = kPeer, .from = "squid", .pool = {}}), Code::kInvalid);
  EXPECT_EQ(code_of({.path = kOwn, .from = {}, .pool = "gamma"}), Code::kNotFound);
  EXPECT_EQ(code_of({.path = kOwn, .from = "twemproxy", .pool = {}}), Code::kInvalid);
  EXPECT_EQ(code_of({.path = "/absent", .from = {}, .pool = {}}), Code::kNotFound);
}

}  // namespace
}  // namespace cleave::app
