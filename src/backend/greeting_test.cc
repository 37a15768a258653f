#include "backend/greeting.h"

#include <gtest/gtest.h>

#include <vector>

namespace cleave::backend {
namespace {

using wire::Reply;

Reply status(std::string text) { return {.type = Reply::Type::kStatus, .text = std::move(text)}; }
Reply error(std::string text) { return {.type = Reply::Type::kError, .text = std::move(text)}; }
Reply bulk(std::string text) { return {.type = Reply::Type::kBulk, .text = std::move(text)}; }
Reply integer(std::int64_t value) { return {.type = Reply::Type::kInteger, .integer = value}; }

std::vector<Reply> good() {
  return {status("OK"), integer(42), bulk("# Server\r\nredis_version:7.0.15\r\nrun_id:abc\r\n"),
          bulk("# Replication\r\nrole:master\r\nmaster_replid:def\r\nmaster_replid2:000\r\n")};
}

TEST(Greeting, NamesTheSessionAndAsksWhoAnswers) {
  const Greeting said = greeting({}, SessionId{"s1"});
  EXPECT_EQ(said.replies, 4U);
  EXPECT_NE(said.bytes.find("cleave:s1"), std::string::npos);
}

TEST(Greeting, AuthenticatesFirst) {
  const Greeting said = greeting({.user = "u", .password = "p"}, SessionId{"s1"});
  EXPECT_EQ(said.replies, 5U);
  EXPECT_TRUE(said.bytes.starts_with("*3\r\n$4\r\nAUTH\r\n$1\r\nu\r\n$1\r\np\r\n"));
}

TEST(Greeting, ReadsTheIdentity) {
  const Result<Identity> identity = identity_of(good());
  ASSERT_TRUE(identity.has_value());
  EXPECT_EQ(identity->connection_id, 42U);
  EXPECT_EQ(identity->incarnation, (Incarnation{"abc", "def"}));
  EXPECT_TRUE(identity->primary);
  EXPECT_EQ(identity->version, "7.0.15");
}

TEST(Greeting, AReplicaIsNoPrimary) {
  std::vector<Reply> replies = good();
  replies[3] = bulk("role:slave\nmaster_replid:def\n");
  const Result<Identity> identity = identity_of(replies);
  ASSERT_TRUE(identity.has_value());
  EXPECT_FALSE(identity->primary);
}

TEST(Greeting, SaysWhichCommandWasRefusedAndWhy) {
  std::vector<Reply> replies = good();
  replies.insert(replies.begin(), error("WRONGPASS invalid password"));
  const Result<Identity> identity = identity_of(replies);
  ASSERT_FALSE(identity.has_value());
  EXPECT_EQ(identity.error(),
            (Error{Code::kUnavailable, "AUTH was refused: WRONGPASS invalid password"}));
}

TEST(Greeting, EveryRefusedOrMissingPartIsAnError) {
  for (std::size_t i = 0; i < good().size(); ++i) {
    std::vector<Reply> replies = good();
    replies[i] = error("NOPERM");
    EXPECT_FALSE(identity_of(replies).has_value()) << i;
  }
  std::vector<Reply> replies = good();
  replies[2] = bulk("redis_version:7\r\n");
  EXPECT_FALSE(identity_of(replies).has_value());
}

TEST(Greeting, KillsById) {
  EXPECT_EQ(kill_command(7), "*4\r\n$6\r\nCLIENT\r\n$4\r\nKILL\r\n$2\r\nID\r\n$1\r\n7\r\n");
}

}  // namespace
}  // namespace cleave::backend
