#include "backend/refusal.h"

#include <gtest/gtest.h>

#include <vector>

namespace cleave::backend {
namespace {

// As redis-server 6.2 and 7.0 and Valkey 9 word it.
TEST(Refusal, WhatIsSaidOfTheServerIsNotBlamedOnAValue) {
  for (const std::string_view words :
       {"OOM command not allowed when used memory > 'maxmemory'.",
        "READONLY You can't write against a read only replica.",
        "ERR READONLY You can't write against a read only replica.",
        "LOADING Redis is loading the dataset in memory",
        "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist "
        "to "
        "disk.",
        "NOREPLICAS Not enough good replicas to write.",
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
        "NOPERM this user has no permissions to run the 'restore' command",
        "NOPERM User app has no permissions to run the 'restore' command",
        "NOPERM No permissions to access a key",
        "NOAUTH Authentication required.",
        "WRONGPASS invalid username-password pair or user is disabled.",
        "CLUSTERDOWN The cluster is down",
        "MOVED 3999 127.0.0.1:6381",
        "ASK 3999 127.0.0.1:6381",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "EXECABORT Transaction discarded because of previous errors.",
        "ERR DUMP payload version or checksum are wrong",
        "ERR unknown command 'DUMP', with args beginning with: 'k' ",
        "ERR max number of clients reached",
        "DENIED Redis is running in protected mode",
        "BUSYKEY Target key name already exists.",
        "ERR something that nobody has heard of",
        "ERR",
        ""}) {
    EXPECT_EQ(blame_of(words), Blame::kServer) << words;
  }
}

TEST(Refusal, WhatIsSaidOfAValueStaysWithIt) {
  for (const std::string_view words :
       {"ERR Bad data format", "WRONGTYPE Operation against a key holding the wrong kind of value",
        "ERR no such key", "ERR string exceeds maximum allowed size (proto-max-bulk-len)",
        "ERR string exceeds maximum allowed size (512MB)",
        "ERR The ID specified in XADD is equal or smaller than the target stream top item"}) {
    EXPECT_EQ(blame_of(words), Blame::kValue) << words;
  }
}

TEST(Refusal, TheFirstWordOfTheServerIsFound) {
  using Type = wire::Reply::Type;
  std::vector<wire::Reply> replies(3);
  replies[0] = {.type = Type::kStatus, .text = "OK"};
  replies[1] = {.type = Type::kError, .text = "ERR Bad data format"};
  EXPECT_EQ(server_refusal(replies), nullptr);
  replies[2] = {.type = Type::kError, .text = "OOM command not allowed"};
  EXPECT_EQ(server_refusal(replies), &replies[2]);
}

// Footers of DUMP as real servers wrote them: Redis 7.0 has 10, Valkey 9.1 has 80.
TEST(Refusal, TheFormatsVersionStandsBeforeTheChecksum) {
  EXPECT_EQ(rdb_version_of(std::string_view("\x00\x01v\x0a\x00"
                                            "12345678",
                                            13)),
            10U);
  EXPECT_EQ(rdb_version_of(std::string_view("\x00\x01v\x50\x00"
                                            "12345678",
                                            13)),
            80U);
  EXPECT_EQ(rdb_version_of(std::string_view("\x00\x01v\x01\x02"
                                            "12345678",
                                            13)),
            513U);
  EXPECT_EQ(rdb_version_of(""), 0U);
  EXPECT_EQ(rdb_version_of("0123456789"), 0U);
}

// In the words of Redis 7.0 and of later ones: one line to copy, each right once.
TEST(Refusal, MissingRightsMakeOneLine) {
  const auto error = [](std::string text) {
    return wire::Reply{.type = wire::Reply::Type::kError, .text = std::move(text)};
  };
  const std::vector<wire::Reply> replies = {
      error("NOPERM this user has no permissions to run the 'client|kill' command"),
      {.type = wire::Reply::Type::kInteger, .integer = 1},
      error("NOPERM this user has no permissions to access one of the keys used as arguments"),
      error("NOPERM No permissions to access a key"),
      error("OOM command not allowed"),
      error("NOPERM User app has no permissions to run the 'dump' command")};
  EXPECT_EQ(missing_rights("app", replies, Keys::kOwn),
            "ACL SETUSER app +client|kill +dump ~cleave:{*");
  EXPECT_EQ(missing_rights("app", replies, Keys::kOfClients),
            "ACL SETUSER app +client|kill +dump ~*");
  EXPECT_EQ(missing_rights("app", std::span(replies).subspan(1, 1), Keys::kOwn), "");
}

}  // namespace
}  // namespace cleave::backend
