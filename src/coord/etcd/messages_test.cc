#include "coord/etcd/messages.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace cleave::coord::etcd {
namespace {

TEST(EtcdMessages, Base64IsInverse) {
  Rng rng(3);
  for (int i = 0; i < 1'000; ++i) {
    std::string bytes(rng.below(40), '\0');
    for (char& byte : bytes) byte = static_cast<char>(rng.next());
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
  EXPECT_FALSE(from_base64("abc"));
  EXPECT_FALSE(from_base64("ab!c"));
}

TEST(EtcdMessages, ATransactionComparesThenWrites) {
  EXPECT_EQ(txn_body({.key = "e",
                      .value = "7",
                      .puts = {{.key = "e", .value = "8", .lease = LeaseId{5}}},
                      .deletions = {{.first = "a", .last = "b"}}}),
            R"({"compare":[{"key":"ZQ==","result":"EQUAL","target":"VALUE","value":"Nw=="}],)"
            R"("success":[{"request_put":{"key":"ZQ==","lease":"5","value":"OA=="}},)"
            R"({"request_delete_range":{"key":"YQ==","range_end":"Yg=="}}]})");
  EXPECT_EQ(txn_body({.key = "e"}),
            R"({"compare":[{"key":"ZQ==","result":"EQUAL","target":"VERSION","version":"0"}],)"
            R"("success":[]})");
}

// As etcd 3.4 and 3.6 write them; what has its default value is left out.
TEST(EtcdMessages, AnswersAreUnderstood) {
  const auto range = parse_range(
      R"({"header":{"revision":"12"}, "kvs":[{"key":"ZQ==","value":"Nw=="},{"key":"Zg=="}]})");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->revision, Revision{12});
  ASSERT_EQ(range->pairs.size(), 2U);
  EXPECT_EQ(range->pairs[0].value, "7");
  EXPECT_EQ(range->pairs[1].value, "");
  EXPECT_EQ(parse_txn(R"({"header":{"revision":"2"},"succeeded":true})"), true);
  EXPECT_EQ(parse_txn(R"({"header":{"revision":"2"}})"), false);
  EXPECT_FALSE(parse_txn("{}"));
  EXPECT_EQ(parse_grant(R"({"ID":"1879586722203016455","TTL":"1"})"), LeaseId{1879586722203016455});
  EXPECT_EQ(parse_keepalive(R"({"result":{"ID":"12345","TTL":"3"}})"), true);
  EXPECT_EQ(parse_keepalive(R"({"result":{"ID":"12345"}})"), false);
  EXPECT_EQ(parse_token(R"({"token":"a.1"})"), "a.1");
  const auto line = parse_watch(
      R"({"result":{"header":{"revision":"3"},"events":[{"kv":{"key":"ZQ==","value":"Mw==",)"
      R"("mod_revision":"7"}},{"type":"DELETE","kv":{"key":"ZQ==","mod_revision":"9"}}]}})");
  ASSERT_TRUE(line);
  EXPECT_EQ(line->puts, std::vector<std::string>{"3"});
  EXPECT_EQ(line->newest, Revision{9});
  const auto gone = parse_watch(R"({"result":{"canceled":true,"compact_revision":"3"}})");
  ASSERT_TRUE(gone);
  EXPECT_TRUE(gone->canceled);
  EXPECT_EQ(gone->compacted, Revision{3});
  EXPECT_EQ(parse_refusal(R"({"error":"x","message":"no","code":5})").code, 5);
  EXPECT_EQ(parse_refusal("<html>").message, "<html>");
}

TEST(EtcdMessages, NonsenseIsAnError) {
  for (const std::string text : {"", "null", "[]", "{", "7", "\"x\"", "<html></html>"}) {
    EXPECT_FALSE(parse_range(text)) << text;
    EXPECT_FALSE(parse_txn(text)) << text;
    EXPECT_FALSE(parse_grant(text)) << text;
    EXPECT_FALSE(parse_keepalive(text)) << text;
    EXPECT_FALSE(parse_token(text)) << text;
    EXPECT_FALSE(parse_watch(text)) << text;
  }
  EXPECT_FALSE(parse_range(R"({"kvs":[{"key":"!!!!"}]})"));
  EXPECT_FALSE(parse_watch(R"({"result":[]})"));
}

}  // namespace
}  // namespace cleave::coord::etcd
