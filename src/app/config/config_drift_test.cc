#include "app/config/config_drift.h"

#include <gtest/gtest.h>

#include "ring/edits/edits.h"

namespace cleave::app {
namespace {

Config config() {
  Config config;
  config.pool.name = "main";
  for (const char* name : {"a", "b"}) {
    ring::Node node;
    node.name = name;
    node.weight = 1;
    node.members = {
        {.address = name == std::string("a") ? "10.0.0.1:7001" : "10.0.0.1:7002", .rack = ""}};
    config.pool.nodes.push_back(node);
  }
  return config;
}

ring::Document document_of(const Config& config) {
  const auto created = ring::create({.pool = config.pool.name,
                                     .mark = "m",
                                     .nodes = config.pool.nodes,
                                     .scheme = config.pool.scheme,
                                     .mode = config.balance.mode,
                                     .now = UnixMillis{1}});
  EXPECT_TRUE(created) << created.error().message;
  return *created;
}

TEST(ConfigDrift, NothingIsSaidOfAFileThatIsTrue) {
  EXPECT_TRUE(ignored_settings(config(), document_of(config())).empty());
}

TEST(ConfigDrift, EachChangeNamesWhatToRunInstead) {
  const ring::Document document = document_of(config());
  const auto told = [&](const std::function<void(Config&)>& change) {
    Config changed = config();
    change(changed);
    std::string text;
    for (const std::string& line : ignored_settings(changed, document)) text += line + "\n";
    return text;
  };
  EXPECT_EQ(told([](Config& c) { c.pool.nodes[0].weight = 3; }),
            "node a: weight 3 of the file is ignored, the ring has 1; to change it: cleave node "
            "weight a 3\n");
  EXPECT_NE(told([](Config& c) {
              c.pool.nodes[1].members[0].address = "10.0.0.9:1";
            }).find("cleave node add NAME 10.0.0.9:1, then cleave node drain b"),
            std::string::npos);
  EXPECT_NE(told([](Config& c) {
              c.pool.scheme.name = "twemproxy-ketama";
            }).find("twemproxy-ketama of the file is ignored, keys are placed by vnode"),
            std::string::npos);
  EXPECT_NE(told([](Config& c) { c.pool.nodes[0].members[0].rack = "r1"; }).find("rack 'r1'"),
            std::string::npos);
  EXPECT_NE(told([](Config& c) { c.pool.nodes[0].hash_key = "x"; }).find("hash_key 'x'"),
            std::string::npos);
  EXPECT_EQ(told([](Config& c) { c.balance.mode = ring::Mode::kObserve; }),
            "balance.mode: observe of the file is ignored, the mode is auto; to change it: cleave "
            "mode observe\n");
  const std::string renamed = told([](Config& c) { c.pool.nodes[1].name = "c"; });
  EXPECT_NE(renamed.find("cleave node add c 10.0.0.1:7002\n"), std::string::npos) << renamed;
  EXPECT_NE(renamed.find("cleave node drain b\n"), std::string::npos) << renamed;
}

}  // namespace
}  // namespace cleave::app
