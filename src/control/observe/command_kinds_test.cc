#include "control/observe/command_kinds.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "wire/resp.h"

namespace cleave::control {
namespace {

// By the table of a real server.
TEST(CommandKinds, TellWritesFromReadsAndFromWhatCannotBeCompared) {
  std::ifstream file(CLEAVE_SOURCE "/src/route/testdata/command_redis_7.0.15.resp",
                     std::ios::binary);
  const std::string raw{std::istreambuf_iterator<char>(file), {}};
  const auto reply = wire::parse_reply(raw);
  ASSERT_TRUE(reply);
  const CommandKinds kinds = kinds_of(*route::CommandTable::parse(*reply));
  for (const char* const name : {"set", "del", "xgroup|create", "restore", "sort", "getdel"}) {
    EXPECT_TRUE(kinds.keyed.contains(name)) << name;
    EXPECT_TRUE(kinds.writes.contains(name)) << name;
    EXPECT_FALSE(kinds.opaque.contains(name)) << name;
  }
  for (const char* const name : {"get", "mget", "dump", "object|freq"}) {
    EXPECT_TRUE(kinds.keyed.contains(name)) << name;
    EXPECT_FALSE(kinds.writes.contains(name)) << name;
  }
  for (const char* const name :
       {"ping", "info", "memory|usage", "client|list", "scan", "multi", "config|set"})
    EXPECT_FALSE(kinds.keyed.contains(name)) << name;
  for (const char* const name : {"eval", "evalsha", "fcall", "flushall", "flushdb"})
    EXPECT_TRUE(kinds.opaque.contains(name)) << name;
  EXPECT_FALSE(kinds.opaque.contains("mset"));
}

}  // namespace
}  // namespace cleave::control
