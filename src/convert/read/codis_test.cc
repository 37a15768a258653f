#include "convert/convert_testing.h"
#include "convert/write/cleave_yaml.h"

namespace cleave::convert {
namespace {

constexpr std::string_view kDump = R"({
    "slots": [
        {"id": 0, "group_id": 2, "action": {}},
        {"id": 1, "group_id": 1, "action": {}},
        {"id": 2, "group_id": 1, "action": {}},
        {"id": 4, "group_id": 1, "action": {}},
        {"id": 5, "group_id": 0, "action": {}}
    ],
    "group": [
        {"id": 1, "servers": [{"server": "10.0.0.1:6379", "datacenter": "", "action": {}},
                              {"server": "10.0.0.2:6379"}], "promoting": {}},
        {"id": 2, "servers": [{"server": "10.0.0.3:6379"}]},
        {"id": 3, "servers": [{"server": "10.0.0.4:6379"}]}
    ],
    "proxy": [{"id": 1, "proxy_addr": "10.0.0.9:19000"}]
})";

TEST(ReadCodis, TakesTheDumpOver) {
  const Pool pool = pool_of(Peer::kCodis, kDump);
  EXPECT_EQ(pool.name, "codis");
  EXPECT_EQ(pool.kind, Kind::kStore);
  EXPECT_EQ(pool.scheme.name, "codis");
  EXPECT_EQ(pool.scheme.options.at("slots"), "group-1=1-2,4;group-2=0;group-3=");
  const std::vector<PoolNode> want = {{"group-1", 1, {"10.0.0.1:6379", "10.0.0.2:6379"}},
                                      {"group-2", 1, {"10.0.0.3:6379"}},
                                      {"group-3", 1, {"10.0.0.4:6379"}}};
  EXPECT_EQ(pool.nodes, want);
  const std::string remarks = remarks_of(pool);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "1020 slots belong to nobody", remarks);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "10.0.0.9:19000", remarks);
}

TEST(ReadCodis, PlacesKeysByTheTable) {
  std::string table = "[";
  for (int slot = 0; slot < 1'024; ++slot) {
    table += (slot == 0 ? "" : ",") + std::string("\n{\"id\":") + std::to_string(slot) +
             ",\"group_id\":" + std::to_string(slot % 3 + 1) + "}";
  }
  const Pool pool = pool_of(Peer::kCodis, table + "]");
  EXPECT_TRUE(pool.remarks.empty()) << remarks_of(pool);
  const auto placement = ring::place(pool.scheme, placed_nodes(pool));
  ASSERT_TRUE(placement) << placement.error().message;
  // CRC-32 of "123456789" is 0xCBF43926, its published check value.
  EXPECT_EQ((*placement)->owner("123456789"), 0xCBF43926U % 1'024 % 3);
  EXPECT_EQ((*placement)->owner("a{123456789}b"), 0xCBF43926U % 1'024 % 3);
  // Where the servers are, such a list does not say.
  const Imported imported{.from = Peer::kCodis, .pools = {pool}, .passed_over = {}};
  EXPECT_FALSE(to_cleave_yaml(imported, "f"));
}

TEST(ReadCodis, ReadsTheOtherForms) {
  const Pool overview =
      pool_of(Peer::kCodis,
              R"({"model": {"product_name": "shop"}, "stats": {"slots": [{"id": 3, "group_id": 1}],
          "group": {"models": [{"id": 1, "servers": [{"server": "h:1"}]}]}}})");
  EXPECT_EQ(overview.name, "shop");
  EXPECT_EQ(overview.nodes, (std::vector<PoolNode>{{"group-1", 1, {"h:1"}}}));
  const Pool mixed =
      pool_of(Peer::kCodis, R"([{"id": 3, "group_id": 1}, {"id": 1, "servers": ["h:1", "h:2"]}])");
  EXPECT_EQ(mixed.nodes, (std::vector<PoolNode>{{"group-1", 1, {"h:1", "h:2"}}}));
  const Pool proxies =
      pool_of(Peer::kCodis, R"([{"id": 3, "backend_addr": "h:1"}, {"id": 4, "backend_addr": ""}])");
  EXPECT_EQ(proxies.nodes, (std::vector<PoolNode>{{"h:1", 1, {"h:1"}}}));
  EXPECT_EQ(proxies.scheme.options.at("slots"), "h:1=3");
}

TEST(ReadCodis, RefusesWhatIsUnderWayOrBroken) {
  const std::string_view slot = "{\"id\": 0, \"group_id\": 2, \"action\": {}}";
  expect_refusals(
      Peer::kCodis, kDump,
      {{slot, R"({"id": 0, "group_id": 2, "action": {"state": "migrating", "target_id": 1}})",
        "f:3: pool 'codis': slot 0 is being migrated"},
       {slot, R"({"id": 0, "backend_addr": "h:1", "migrate_from": "h:2"})", "being migrated"},
       {slot, R"({"id": 0, "group_id": 2, "locked": true})", "being migrated"},
       {slot, R"({"id": 1, "group_id": 2})", "slot 1 is there twice"},
       {slot, R"({"id": 1024, "group_id": 2})", "without an id from 0 to 1023"},
       {slot, R"({"group_id": 2})", "without an id from 0 to 1023"},
       {slot, R"({"id": 0, "backend_addr": "h"})", "'h' is no address"},
       {"\"promoting\": {}", "\"promoting\": {\"state\": \"preparing\"}", "group 1 is promoting"},
       {"\"id\": 3, \"servers\"", "\"id\": 2, \"servers\"", "group 2 is there twice"},
       {"\"id\": 3, \"servers\"", "\"servers\"", "a group without an id"},
       {"10.0.0.4:6379", "10.0.0.1:6379", "10.0.0.1:6379 is there twice"},
       {"10.0.0.4:6379", "10.0.0.4", "is no address"},
       {"\"slots\"", "\"shots\"", "no slot belongs to a group"}});
}

}  // namespace
}  // namespace cleave::convert
