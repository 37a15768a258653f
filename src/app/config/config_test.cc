#include "app/config/config.h"

#include <gtest/gtest.h>

#include <string>

namespace cleave::app {
namespace {

// A good file; each case below breaks one line of it.
constexpr std::string_view kGood =
    "listeners: [{address: 127.0.0.1:6380}]\n"
    "admin: {address: 127.0.0.1:7380}\n"
    "workers: 1\n"
    "pools:\n"
    "  - name: main\n"
    "    nodes:\n"
    "      - {name: a, members: [{address: 127.0.0.1:7001}]}\n"
    "      - {name: b, members: [{address: 127.0.0.1:7002}]}\n";

std::string with(std::string_view from, std::string_view to) {
  std::string text(kGood);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string error_of(const std::string& text) {
  const Result<Config> config = parse_config(text, "f.yaml");
  if (config) return "accepted";
  EXPECT_EQ(config.error().code, Code::kInvalid);
  return config.error().message;
}

TEST(Config, ReadsEveryKey) {
  const Result<Config> config = load_config(CLEAVE_TESTDATA "/full.yaml");
  ASSERT_TRUE(config) << config.error().message;
  ASSERT_EQ(config->listeners.size(), 2U);
  EXPECT_EQ(config->listeners[1].address, (net::Address{.host = "::1", .port = 6380}));
  EXPECT_EQ(config->admin.token, "s3cret");
  EXPECT_EQ(config->workers, 2U);
  EXPECT_EQ(config->pool.name, "main");
  EXPECT_EQ(config->pool.credentials.user, "cleave");
  EXPECT_EQ(config->pool.credentials.password, "hunter2");
  ASSERT_EQ(config->pool.nodes.size(), 2U);
  EXPECT_EQ(config->pool.nodes[0].weight, 3U);
  EXPECT_EQ(config->pool.nodes[0].members[0].rack, "r1");
  ASSERT_EQ(config->pool.nodes[1].members.size(), 2U);
  EXPECT_EQ(config->pool.nodes[1].members[1].address, "localhost:7003");
  EXPECT_EQ(config->admin.advertise, "router1.example:7380");
  EXPECT_EQ(config->coordination.kind, CoordinatorKind::kSqlite);
  EXPECT_EQ(config->coordination.path, CLEAVE_TESTDATA "/data/cleave.db");
  EXPECT_EQ(config->history_path, CLEAVE_TESTDATA "/data/history.db");
  EXPECT_EQ(config->balance.mode, ring::Mode::kApprove);
  EXPECT_EQ(config->limits.request_timeout, milliseconds{500});
  EXPECT_EQ(config->limits.clients_max, 20U);
  EXPECT_EQ(config->limits.copy_bytes_per_second, 0U);
  EXPECT_EQ(config->limits.element_bytes_max, 1'048'576U);
  EXPECT_EQ(config->log_format, LogFormat::kJson);
}

TEST(Config, ReadsACoordinationService) {
  const Result<Config> etcd = load_config(CLEAVE_TESTDATA "/etcd.yaml");
  ASSERT_TRUE(etcd) << etcd.error().message;
  const CoordinationConfig& coordination = etcd->coordination;
  EXPECT_EQ(coordination.kind, CoordinatorKind::kEtcd);
  EXPECT_EQ(coordination.endpoints,
            (std::vector<std::string>{"https://10.0.0.1:2379", "https://10.0.0.2:2379"}));
  EXPECT_EQ(coordination.prefix, "/fleet/main");
  EXPECT_EQ(coordination.user, "cleave");
  EXPECT_EQ(coordination.password, "s3cret");
  EXPECT_EQ(coordination.ca_file, CLEAVE_TESTDATA "/ca.pem");
  EXPECT_EQ(coordination.certificate_file, CLEAVE_TESTDATA "/client.pem");
  EXPECT_EQ(coordination.key_file, CLEAVE_TESTDATA "/client.key");
  EXPECT_EQ(etcd->history_path, CLEAVE_TESTDATA "/cleave.history");
  EXPECT_EQ(coordination.saved_rings, CLEAVE_TESTDATA "/cleave.rings");
}

TEST(Config, FillsInWhatIsLeftOut) {
  const Result<Config> config = load_config(CLEAVE_TESTDATA "/small.yaml");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->listeners[0].pool, "main");
  EXPECT_EQ(config->admin.address, (net::Address{.host = "127.0.0.1", .port = 7380}));
  EXPECT_EQ(config->coordination.path, CLEAVE_TESTDATA "/cleave.db");
  EXPECT_EQ(config->coordination.saved_rings, CLEAVE_TESTDATA "/cleave.db.rings");
  EXPECT_EQ(config->history_path, CLEAVE_TESTDATA "/cleave.db.history");
  EXPECT_EQ(config->pool.kind, PoolKind::kStore);
  EXPECT_EQ(config->pool.scheme, ring::SchemeSpec{.name = "vnode"});
  EXPECT_EQ(config->pool.nodes[0].weight, 1U);
  EXPECT_EQ(config->balance.mode, ring::Mode::kAuto);
  EXPECT_EQ(config->limits.request_timeout, Limits{}.request_timeout);
}

TEST(Config, ReadsWhatTheBalancerMayDo) {
  const Result<Config> config = parse_config(
      with("workers: 1",
           "balance: {mode: observe, windows: [22:00-06:00, 12:00-13:00], "
           "constants: {hot_ppm: 1400000, dwell: 1000}, webhook: 'http://ops.example/hook?a=b'}"),
      "f.yaml");
  ASSERT_TRUE(config) << config.error().message;
  const BalanceConfig& balance = config->balance;
  EXPECT_EQ(balance.mode, ring::Mode::kObserve);
  ASSERT_EQ(balance.windows.size(), 2U);
  EXPECT_EQ(balance.windows[0], (balance::DailyWindow{.from = 22 * 60, .until = 6 * 60}));
  EXPECT_EQ(balance.constants.hot_ppm, 1'400'000U);
  EXPECT_EQ(balance.constants.dwell, milliseconds{1'000});
  EXPECT_EQ(balance.constants.slow_ppm, balance::Constants{}.slow_ppm) << "not named";
  ASSERT_TRUE(balance.webhook);
  EXPECT_EQ(*balance.webhook,
            (net::Url{.address = {.host = "ops.example", .port = 80}, .target = "/hook?a=b"}));
}

// The node of id i stands at i - 1; one that does not say stands behind the one before it.
TEST(Config, APositionGivesTheNodeItsId) {
  const auto ids = [](std::string_view from, std::string_view to) {
    std::vector<std::uint32_t> found;
    const Result<Config> config = parse_config(with(from, to), "f.yaml");
    EXPECT_TRUE(config) << config.error().message;
    if (!config) return found;
    for (const ring::Node& node : config->pool.nodes) found.push_back(node.id.value());
    return found;
  };
  EXPECT_EQ(ids("", ""), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(ids("{name: b,", "{name: b, position: 6,"), (std::vector<std::uint32_t>{1, 7}));
  EXPECT_EQ(ids("{name: a,", "{name: a, position: 41,"), (std::vector<std::uint32_t>{42, 43}));
  EXPECT_EQ(ids("{name: a,", "{name: a, position: 2147483646,"),
            (std::vector<std::uint32_t>{0x7FFF'FFFFU, 0x8000'0000U}));
}

TEST(Config, MissingFileIsNotFound) {
  const Result<Config> config = load_config(CLEAVE_TESTDATA "/no-such-file.yaml");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, Code::kNotFound);
}

struct BadCase {
  const char* name;
  const char* from;
  const char* to;
  const char* message;  // how the error begins
};

class BadConfig : public testing::TestWithParam<BadCase> {};

TEST_P(BadConfig, NamesPlaceAndRemedy) {
  // Long lists of keys and the words of yaml-cpp are given by their beginning.
  const std::string error = error_of(with(GetParam().from, GetParam().to));
  EXPECT_EQ(error.substr(0, std::string_view(GetParam().message).size()), GetParam().message)
      << error;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadConfig,
    testing::Values(
        BadCase{"UnknownKey", "workers: 1", "worker: 1",
                "f.yaml:3:1: worker: unknown key; known here: insecure, pools, listeners, admin, "
                "limits, workers, coordination, history, balance, log"},
        BadCase{"UnknownKeyDeepInside", "{name: a,", "{name: a, wieght: 2,",
                "f.yaml:7:19: pools[0].nodes[0].wieght: unknown key; known here: name, position, "
                "hash_key, weight, members"},
        BadCase{"PositionOfTheNodeBefore", "{name: b,", "{name: b, position: 0,",
                "f.yaml:8:29: pools[0].nodes[1].position: want a whole number from 1 to "
                "2147483646"},
        BadCase{"PositionAboveAll", "{name: b,", "{name: b, position: 2147483647,",
                "f.yaml:8:29: pools[0].nodes[1].position: want a whole number from 1 to "
                "2147483646"},
        BadCase{"DuplicateKey", "workers: 1", "workers: 1\nworkers: 2",
                "f.yaml:4:1: workers: this key is there twice"},
        BadCase{"DuplicateKeyInFlow", "{name: a,", "{name: a, name: c,",
                "f.yaml:7:19: pools[0].nodes[0].name: this key is there twice"},
        BadCase{"NoEndpoint", "workers: 1", "workers: 1\ncoordination: {kind: etcd}",
                "f.yaml:4:15: coordination.endpoints: want at least one: [http://10.0.0.1:2379]"},
        BadCase{"EndpointsAreNoList", "workers: 1",
                "workers: 1\ncoordination: {kind: zookeeper, endpoints: 10.0.0.1}",
                "f.yaml:4:44: coordination.endpoints: want a list, got "},
        BadCase{"SqliteHasNoPrefix", "workers: 1", "workers: 1\ncoordination: {prefix: /x}",
                "f.yaml:4:16: coordination.prefix: unknown key; known here: kind, path"},
        BadCase{"PrefixIsNoPath", "workers: 1",
                "workers: 1\ncoordination: {kind: zookeeper, endpoints: [a], prefix: x}",
                "f.yaml:4:57: coordination.prefix: want a path like /cleave/main"},
        BadCase{"CertificateWithoutKey", "workers: 1",
                "workers: 1\ncoordination: {kind: etcd, endpoints: [a], certificate_file: x}",
                "f.yaml:4:15: coordination.key_file: a certificate and its key are given together"},
        BadCase{"Octal", "workers: 1", "workers: 0777",
                "f.yaml:3:10: workers: '0777' could be read as octal; write the number without "
                "leading zeros"},
        BadCase{"QuotedNumber", "workers: 1", "workers: \"1\"",
                "f.yaml:3:10: workers: want a whole number from 1 to 64, got a quoted text"},
        BadCase{"Fraction", "workers: 1", "workers: 1.5",
                "f.yaml:3:10: workers: want a whole number from 1 to 64, got '1.5'"},
        BadCase{"Negative", "workers: 1", "workers: -1",
                "f.yaml:3:10: workers: want a whole number from 1 to 64, got '-1'"},
        BadCase{"Hexadecimal", "workers: 1", "workers: 0x10",
                "f.yaml:3:10: workers: want a whole number from 1 to 64, got '0x10'"},
        BadCase{"OutOfRange", "workers: 1", "workers: 65",
                "f.yaml:3:10: workers: want a whole number from 1 to 64, got '65'"},
        BadCase{"BeyondSixtyFourBits", "workers: 1", "workers: 99999999999999999999",
                "f.yaml:3:10: workers: want a whole number from 1 to 64, got "
                "'99999999999999999999'"},
        BadCase{"NoValue", "workers: 1",
                "workers:", "f.yaml:4:1: workers: want one value, got nothing"},
        BadCase{"ListForValue", "workers: 1", "workers: [1]",
                "f.yaml:3:10: workers: want one value, got a list"},
        BadCase{"ValueForSection", "admin: {address: 127.0.0.1:7380}", "admin: 7380",
                "f.yaml:2:8: admin: want a mapping, got '7380'"},
        BadCase{"ValueForList", "members: [{address: 127.0.0.1:7001}]", "members: 7001",
                "f.yaml:7:28: pools[0].nodes[0].members: want a list, got '7001'"},
        BadCase{"MissingKey", "{name: a,", "{weight: 1,",
                "f.yaml:7:9: pools[0].nodes[0].name: this key is missing; want a text"},
        BadCase{"BadName", "{name: a,", "{name: a b,",
                "f.yaml:7:16: pools[0].nodes[0].name: want 1 to 64 letters, digits, '-', '_', "
                "'.' or ':', got 'a b'"},
        BadCase{"SameNodeTwice", "{name: b,", "{name: a,",
                "f.yaml:8:16: pools[0].nodes[1].name: 'a' is there twice; names of nodes are "
                "unique"},
        BadCase{"SameServerTwice", "127.0.0.1:7002", "127.0.0.1:7001",
                "f.yaml:8:39: pools[0].nodes[1].members[0].address: 127.0.0.1:7001 is there "
                "twice; a server is one member"},
        BadCase{"NoMembers", "[{address: 127.0.0.1:7001}]", "[]",
                "f.yaml:7:28: pools[0].nodes[0].members: want at least one member: [{address: "
                "host:port}]"},
        BadCase{"PortZeroForServer", "127.0.0.1:7001", "127.0.0.1:0",
                "f.yaml:7:39: pools[0].nodes[0].members[0].address: want a port from 1 to 65535"},
        BadCase{"UnknownScheme", "    nodes:", "    ring: {scheme: ketama}\n    nodes:",
                "f.yaml:6:11: pools[0].ring: create pool 'main': no scheme is named 'ketama'"},
        BadCase{"UnknownOption", "    nodes:", "    ring: {points_: 1}\n    nodes:",
                "f.yaml:6:11: pools[0].ring: create pool 'main': scheme vnode has no option"},
        BadCase{"NumbersOnly", "    nodes:", "    ring: {scheme: jump}\n    nodes:",
                "f.yaml:6:11: pools[0].ring: create pool 'main': scheme jump places numbers only"},
        BadCase{"NoWindow", "workers: 1", "balance: {windows: [nightly]}",
                "f.yaml:3:20: balance.windows: want a window of UTC time like 22:00-06:00, got "
                "'nightly'"},
        BadCase{"NoSuchConstant", "workers: 1", "balance: {constants: {hot: 2}}",
                "f.yaml:3:23: balance.constants.hot: unknown"},
        BadCase{"ConstantTooLarge", "workers: 1", "balance: {constants: {hot_ppm: 9999999999}}",
                "f.yaml:3:32: balance.constants.hot_ppm: "},
        BadCase{"WebhookWithoutScheme", "workers: 1", "balance: {webhook: ops.example}",
                "f.yaml:3:20: balance.webhook: want http://HOST[:PORT][/PATH], got 'ops.example'"},
        BadCase{"UnknownMode", "workers: 1", "balance: {mode: manual}",
                "f.yaml:3:17: balance.mode: want one of observe, approve, auto, got 'manual'"},
        BadCase{"UnknownPool", "6380}", "6380, pool: other}",
                "f.yaml:1:45: listeners[0].pool: no pool is named 'other'"},
        BadCase{"UnknownProtocol", "6380}", "6380, protocol: memcached}",
                "f.yaml:1:49: listeners[0].protocol: want one of redis, got 'memcached'"},
        BadCase{"WideWithoutPassword", "127.0.0.1:6380", "0.0.0.0:6380",
                "f.yaml:1:23: listeners[0].address: 0.0.0.0:6380 can be reached from other "
                "machines: set a password, or say 'insecure: true' at the top of the file"},
        BadCase{"WideNameThatLooksNumeric", "127.0.0.1:6380", "127.example.org:6380",
                "f.yaml:1:23: listeners[0].address: 127.example.org:6380 can be reached from "
                "other machines: set a password, or say 'insecure: true' at the top of the file"},
        BadCase{"WideAdminWithoutToken", "127.0.0.1:7380", "0.0.0.0:7380",
                "f.yaml:2:18: admin.address: 0.0.0.0:7380 can be reached from other machines: "
                "set a token, or say 'insecure: true' at the top of the file"},
        BadCase{"BadBoolean", "workers: 1", "insecure: yes",
                "f.yaml:3:11: insecure: want true or false, got 'yes'"},
        BadCase{"UnknownLimit", "workers: 1", "limits: {clients: 1}",
                "f.yaml:3:10: limits.clients: unknown key; known here: request_bytes_max, "},
        BadCase{"LimitOutOfRange", "workers: 1", "limits: {fence_hold_max_ms: 1}",
                "f.yaml:3:29: limits.fence_hold_max_ms: want a whole number from 10 to 60000, "
                "got '1'"},
        BadCase{"NotYaml", "workers: 1", "workers: [1", "f.yaml:4:6: not YAML: "}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Config, WideIsAcceptedWithSecretsOrWhenMeant) {
  EXPECT_EQ(error_of(with("127.0.0.1:6380", "0.0.0.0:6380, password: x")), "accepted");
  EXPECT_EQ(error_of(with("127.0.0.1:7380", "0.0.0.0:7380, token: x")), "accepted");
  EXPECT_EQ(error_of("insecure: true\n" + with("127.0.0.1:6380", "0.0.0.0:6380")), "accepted");
}

TEST(Config, NothingAtAll) {
  EXPECT_EQ(error_of(""), "f.yaml:1:1: want one YAML document, got 0");
  EXPECT_EQ(error_of("--- {}\n--- {}\n"), "f.yaml:1:1: want one YAML document, got 2");
  EXPECT_EQ(error_of(","), "f.yaml:1:1: want one YAML document, got 2");
  EXPECT_EQ(error_of("[]"), "f.yaml:1:1: want a mapping, got a list");
  EXPECT_EQ(error_of("{}"), "f.yaml:1:1: pools: want one pool: [{name: main, nodes: [...]}]");
}

}  // namespace
}  // namespace cleave::app
