#include "convert/write/cleave_yaml.h"

#include <yaml-cpp/yaml.h>

#include "convert/convert_testing.h"

namespace cleave::convert {
namespace {

Imported imported(std::string_view text) {
  auto found = import_pools(text, {.file = "f", .from = Peer::kTwemproxy, .pool = {}});
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : Imported{};
}

std::string yaml_of(std::string_view text) {
  const auto yaml = to_cleave_yaml(imported(text), "nut.yml");
  EXPECT_TRUE(yaml) << yaml.error().message;
  return yaml.value_or("");
}

constexpr std::string_view kPool =
    "alpha:\n  listen: 127.0.0.1:22121\n  hash_tag: \"{}\"\n  redis: true\n  timeout: 400\n"
    "  servers:\n   - 127.0.0.1:7001:2\n   - 127.0.0.1:7002:1 yes\n";

TEST(CleaveYaml, SaysWhatTheConfigurationWants) {
  EXPECT_EQ(yaml_of(kPool),
            R"(# Written by `cleave import` from nut.yml, a configuration of twemproxy.
# Keys are placed exactly as there. Observe mode: cleave tells what it would move, and moves
# nothing.
# Pool alpha:
#   line 5: timeout: 400 is not taken over: cleave has limits.request_timeout_ms
listeners:
  - {address: "127.0.0.1:22121", protocol: redis, pool: alpha}
admin: {address: "127.0.0.1:7380"}
pools:
  - name: alpha
    kind: store
    ring: {scheme: twemproxy-ketama, hash_tag: "{}"}
    nodes:
      - {name: "127.0.0.1:7001", weight: 2, members: [{address: "127.0.0.1:7001"}]}
      - {name: "yes", weight: 1, members: [{address: "127.0.0.1:7002"}]}
coordination: {kind: sqlite, path: cleave.db}
balance: {mode: observe}
)");
}

TEST(CleaveYaml, SaysThatAnOpenListenerIsMeant) {
  const std::string open = with(kPool, "127.0.0.1:22121", "0.0.0.0:22121");
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "\ninsecure: true\n", yaml_of(open));
  const std::string secret = yaml_of(with(open, "timeout: 400", "redis_auth: \"p: #1\""));
  EXPECT_PRED_FORMAT2(testing::IsNotSubstring, "insecure", secret);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "password: \"p: #1\"", secret);
}

// Whatever the texts are, they come back as they were, and no comment ends early.
TEST(CleaveYaml, QuotesWhatYamlWouldMisread) {
  for (const std::string_view text :
       {"no",      "null",   "~",     "",     "1",   "0x1F",        "a: b",    "#c",
        "- d",     "{e}",    "\"f\"", "g\\h", "1.0", "caf\xC3\xA9", "tab\tin", "line\nfeed",
        "&anchor", "*alias", "!tag",  "%dir", "@at", "`tick"}) {
    EXPECT_EQ(YAML::Load("k: " + yaml_scalar(text))["k"].Scalar(), text);
    EXPECT_EQ(YAML::Load("{k: " + yaml_quoted(text) + ", l: 1}")["k"].Scalar(), text);
  }
  Imported odd = imported(kPool);
  odd.pools[0].remarks.push_back({.line = 0, .text = "first\nlisteners: []"});
  const auto yaml = to_cleave_yaml(odd, "a\nb");
  ASSERT_TRUE(yaml);
  EXPECT_EQ(YAML::Load(*yaml)["listeners"].size(), 1U);
}

TEST(CleaveYaml, SaysWhereANodeStandsBehindAGap) {
  Imported gaps = imported(kPool);
  gaps.pools[0].nodes.push_back({"three", 1, {"127.0.0.1:7003"}});
  gaps.pools[0].nodes.push_back({"four", 1, {"127.0.0.1:7004"}});
  const std::vector<std::uint32_t> positions = {0, 1, 7, 8};
  for (std::size_t i = 0; i < 4; ++i) gaps.pools[0].nodes[i].position = positions[i];
  const auto yaml = to_cleave_yaml(gaps, "nut.yml");
  ASSERT_TRUE(yaml);
  const YAML::Node nodes = YAML::Load(*yaml)["pools"][0]["nodes"];
  EXPECT_FALSE(nodes[0]["position"]);
  EXPECT_FALSE(nodes[1]["position"]);
  EXPECT_EQ(nodes[2]["position"].as<int>(), 7);
  EXPECT_FALSE(nodes[3]["position"]);
}

TEST(CleaveYaml, HashesAnOldNameThatCleaveCannotUse) {
  const std::string text = with(with(kPool, "7002:1 yes", "7002:1 a/b"), "7001:2", "7001:2 a*b");
  const Imported odd = imported(text);
  EXPECT_EQ(odd.pools[0].nodes[0].name, "a-b");
  EXPECT_EQ(odd.pools[0].nodes[1].name, "a-b-2");
  EXPECT_EQ(placed_nodes(odd.pools[0])[1].name, "a/b");
  EXPECT_PRED_FORMAT2(testing::IsSubstring,
                      "- {name: \"a-b-2\", hash_key: \"a/b\", weight: 1, members:", yaml_of(text));
}

TEST(CleaveYaml, RefusesANodeWithoutAddress) {
  Imported incomplete = imported(kPool);
  incomplete.pools[0].nodes[1].members.clear();
  const auto yaml = to_cleave_yaml(incomplete, "f");
  ASSERT_FALSE(yaml);
  EXPECT_PRED_FORMAT2(testing::IsSubstring, "no address of 'yes'", yaml.error().message);
}

}  // namespace
}  // namespace cleave::convert
