#include "convert/convert_testing.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kGoodNginx =
    "worker_processes 1;\n"
    "http {\n"
    "  upstream images {\n"
    "    hash $request_uri consistent;  # by path\n"
    "    server 10.0.0.1:8080 weight=3;\n"
    "    server 10.0.0.2;\n"
    "    server \"[::1]:81\";\n"
    "  }\n"
    "  upstream plain { server 10.0.0.9; }\n"
    "}\n";

TEST(ReadNginx, TakesTheUpstreamOver) {
  const Pool pool = pool_of(Peer::kNginx, kGoodNginx);
  EXPECT_EQ(pool.name, "images");
  EXPECT_EQ(pool.kind, Kind::kCache);
  EXPECT_EQ(pool.scheme.name, "nginx");
  EXPECT_EQ(pool.scheme.options.at("method"), "consistent");
  const std::vector<PoolNode> want = {{"10.0.0.1:8080", 3, {"10.0.0.1:8080"}},
                                      {"10.0.0.2", 1, {"10.0.0.2:80"}},
                                      {"-::1-:81", 1, {"[::1]:81"}, "[::1]:81"}};
  EXPECT_EQ(pool.nodes, want);
  ASSERT_EQ(pool.remarks.size(), 2U) << remarks_of(pool);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "'$request_uri'", pool.remarks[0].text);
}

TEST(ReadNginx, PassesOverWhatIsNotPlacedByKeys) {
  const auto imported = import_pools(kGoodNginx, {.file = "f", .from = {}, .pool = {}});
  ASSERT_TRUE(imported);
  ASSERT_EQ(imported->passed_over.size(), 1U);
  EXPECT_TRUE(imported->passed_over[0].starts_with("f:9: pool 'plain'"));
  const auto named = import_pools(kGoodNginx, {.file = "f", .from = {}, .pool = "plain"});
  ASSERT_FALSE(named);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no 'hash' directive", named.error().message);
}

TEST(ReadNginx, PlainIsTheOtherMethod) {
  const Pool pool = pool_of(Peer::kNginx, with(kGoodNginx, " consistent", ""));
  EXPECT_EQ(pool.scheme.options.at("method"), "plain");
}

TEST(ReadNginx, ExplainsWhatHasNoCounterpart) {
  const std::string text = with(with(kGoodNginx, "weight=3", "max_fails=2 max_conns=0"),
                                "server 10.0.0.2;", "server cache.example;\n keepalive 32;");
  const std::string remarks = remarks_of(pool_of(Peer::kNginx, text));
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "5: server 10.0.0.1:8080: max_fails=2", remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "6: server cache.example: if the name", remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "7: keepalive", remarks);
}

TEST(ReadNginx, RefusesWhatWouldMoveKeys) {
  expect_refusals(Peer::kNginx, kGoodNginx,
                  {{"weight=3", "down", "f:5: pool 'images': server 10.0.0.1:8080: down"},
                   {"weight=3", "backup", "backup"},
                   {"weight=3", "max_conns=5", "max_conns"},
                   {"weight=3", "slow_start=5s", "slow_start"},
                   {"weight=3", "weight=0", "'0' is no weight"},
                   {"weight=3", "weight=2000", "weight 2000: cleave takes 1 to 1000"},
                   {"weight=3", "quick=1", "'quick=1' is unknown"},
                   {"10.0.0.2;", "unix:/run/a.sock;", "by TCP only"},
                   {"10.0.0.2;", "10.0.0.1:8080;", "is there twice"},
                   {"10.0.0.2;", "10.0.0.2:http;", "want a port"},
                   {"server 10.0.0.2;", "include servers.conf;", "nginx -T"},
                   {"server 10.0.0.2;", "ip_hash;", "ip_hash beside hash"},
                   {"server 10.0.0.2;", "hash $uri;", "'hash' is there twice"},
                   {"server 10.0.0.2;", "dynamic on;", "'dynamic' may place keys"},
                   {" consistent", " consistently", "want: hash KEY [consistent]"},
                   {"upstream images", "location images", "no pool is placed by keys"},
                   {"  }\n", "", "f:10: a '}' is missing"}});
}

}  // namespace
}  // namespace cleave::convert
