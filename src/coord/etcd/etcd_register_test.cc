#include "coord/etcd/etcd_register.h"

#include <atomic>

#include "coord/etcd/messages.h"
#include "coord/register_faults.h"
#include "net/http.h"
#include "net/tls_testing.h"

namespace cleave::coord {
namespace {

// A real etcd. Its short election timeout makes the least ttl of its leases one second.
class EtcdServer {
 public:
  explicit EtcdServer(bool tls = false) {
    if (!is_installed("etcd", "etcd-server")) return;
    if (tls) certificate_ = net::make_certificate(process_.directory() + "/tls", "IP:127.0.0.1");
    start();
  }

  void start() {
    const std::string client = url();
    const std::string peer = "http://127.0.0.1:" + std::to_string(peer_port_);
    std::vector<std::string> arguments{
        "etcd",
        "--name=one",
        "--data-dir=" + process_.directory() + "/data",
        "--heartbeat-interval=10",
        "--election-timeout=100",
        "--listen-client-urls=" + client,
        "--advertise-client-urls=" + client,
        "--listen-peer-urls=" + peer,
        "--initial-advertise-peer-urls=" + peer,
        "--initial-cluster=one=" + peer,
        "--listen-metrics-urls=http://127.0.0.1:" + std::to_string(health_port_)};
    if (!certificate_.certificate.empty()) {
      arguments.push_back("--cert-file=" + certificate_.certificate);
      arguments.push_back("--key-file=" + certificate_.key);
    }
    process_.start(arguments, [this] {
      const auto reply = net::http_call({.address = {.host = "127.0.0.1", .port = health_port_},
                                         .target = "/health",
                                         .timeout = seconds{1}});
      return reply && reply->body.find("true") != std::string::npos;
    });
  }

  // One request as an administrator; its answer.
  std::string post(const std::string& path, const std::string& body) const {
    const auto reply =
        net::http_call({.address = address(), .method = "POST", .target = path, .body = body});
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? reply->body : "";
  }

  std::string url() const {
    return (certificate_.certificate.empty() ? "http://" : "https://") + net::to_string(address());
  }
  net::Address address() const { return {.host = "127.0.0.1", .port = port_}; }
  ServerProcess& process() { return process_; }
  const net::TlsFiles& certificate() const { return certificate_; }

 private:
  ServerProcess process_;
  const std::uint16_t port_ = net::free_port();
  const std::uint16_t peer_port_ = net::free_port();
  const std::uint16_t health_port_ = net::free_port();
  net::TlsFiles certificate_;
};

// One for all tests; each has a prefix of its own.
EtcdServer& shared_server() {
  static EtcdServer server;
  // Each test says so, not only the first.
  EXPECT_TRUE(server.process().runs()) << "the server is not installed or did not start";
  return server;
}

std::string fresh_prefix() {
  static std::atomic<int> count = 0;
  return "/cleave/test" + std::to_string(++count);
}

std::unique_ptr<Register> make(net::Loop& loop, EtcdOptions options) {
  static std::atomic<std::uint64_t> seed = 0;
  options.seed = ++seed;
  auto made = make_etcd(loop, std::move(options));
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

class EtcdWorld final : public ServerWorld {
 public:
  EtcdWorld() { is_installed("etcd", "etcd-server"); }
  std::unique_ptr<Register> attach(net::Loop& loop) override {
    return make(loop,
                {.endpoints = {server_.url()}, .prefix = prefix_, .call_timeout = seconds{3}});
  }
  std::unique_ptr<Register> attach_by(net::Loop& loop, const Forwarder& way) override {
    return make(loop, {.endpoints = {"http://" + net::to_string(way.address())},
                       .prefix = prefix_,
                       .call_timeout = seconds{3}});
  }
  milliseconds lease_ttl() const override { return milliseconds{2'000}; }
  net::Address address() const override { return server_.address(); }
  ServerProcess& process() override { return server_.process(); }
  void start_again() override { server_.start(); }

 private:
  EtcdServer& server_ = shared_server();
  const std::string prefix_ = fresh_prefix();
};

std::unique_ptr<RegisterWorld> make_world() { return std::make_unique<EtcdWorld>(); }
std::unique_ptr<ServerWorld> make_server_world() { return std::make_unique<EtcdWorld>(); }

INSTANTIATE_TEST_SUITE_P(Etcd, RegisterConformance, ::testing::Values(&make_world));
INSTANTIATE_TEST_SUITE_P(Etcd, RegisterFaults, ::testing::Values(&make_server_world));

class EtcdRegisterTest : public ::testing::Test, protected RegisterCalls {
 protected:
  void SetUp() override {
    if (HasFailure()) FAIL() << "there is no etcd to test with";
  }
  std::string count_of_parts(const std::string& prefix) {
    const auto reply = etcd::parse_range(server_.post(
        "/v3/kv/range",
        etcd::range_body(etcd::prefix_range(prefix + "/parts/"), etcd::Values::kKeysOnly)));
    EXPECT_TRUE(reply);
    return std::to_string(reply ? reply->pairs.size() : 99);
  }

  EtcdServer& server_ = shared_server();
  const std::string prefix_ = fresh_prefix();
};

TEST_F(EtcdRegisterTest, PartsOfOldDocumentsAndOfLostRacesGo) {
  const auto one = make(*loop_, {.endpoints = {server_.url()}, .prefix = prefix_});
  ASSERT_TRUE(write(*one, 0, std::string(3'000'000, 'a')));
  EXPECT_EQ(count_of_parts(prefix_), "6");
  // What a writer of epoch 2 leaves that died before its head.
  server_.post("/v3/kv/put",
               "{\"key\":\"" +
                   etcd::to_base64(prefix_ + "/parts/00000000000000000002-00000000000000ff-0000") +
                   "\",\"value\":\"\"}");
  ASSERT_TRUE(write(*one, 1, std::string(1'200'000, 'b')));
  EXPECT_EQ(count_of_parts(prefix_), "4");
  ASSERT_TRUE(write(*one, 2, "small"));
  EXPECT_EQ(count_of_parts(prefix_), "0");
}

TEST_F(EtcdRegisterTest, AWatchThatWasCompactedAwayBeginsAnew) {
  Forwarder way(*loop_, server_.address());
  const auto watcher =
      make(*loop_, {.endpoints = {"http://" + net::to_string(way.address())}, .prefix = prefix_});
  const auto writer = make(*loop_, {.endpoints = {server_.url()}, .prefix = prefix_});
  ASSERT_TRUE(write(*writer, 0, "first"));
  std::uint64_t told = 0;
  watcher->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  EXPECT_TRUE(eventually([&] { return told == 1; }));
  way.cut();
  run_for(milliseconds{100});
  for (std::uint64_t epoch = 1; epoch < 5; ++epoch) ASSERT_TRUE(write(*writer, epoch, "x"));
  const auto now = etcd::parse_range(
      server_.post("/v3/kv/range", etcd::range_body({.first = "x"}, etcd::Values::kKeysOnly)));
  ASSERT_TRUE(now);
  server_.post("/v3/kv/compaction",
               "{\"revision\":\"" + std::to_string(now->revision.value()) + "\"}");
  way.mend();
  EXPECT_TRUE(eventually([&] { return told == 5; }));
  ASSERT_TRUE(write(*writer, 5, "x"));
  EXPECT_TRUE(eventually([&] { return told == 6; })) << "it does not stream any more";
}

// Two requests each beat of a lease, and nothing between.
TEST_F(EtcdRegisterTest, ABeatIsTwoRequestsAndIdlenessNone) {
  Forwarder way(*loop_, server_.address());
  const auto one =
      make(*loop_, {.endpoints = {"http://" + net::to_string(way.address())}, .prefix = prefix_});
  std::uint64_t told = 0;
  one->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  ASSERT_TRUE(write(*one, 0, "x"));
  ASSERT_TRUE(keep_alive(*one, "s", seconds{30}));
  EXPECT_TRUE(eventually([&] { return told == 1; }));
  run_for(milliseconds{300});
  const std::uint64_t settled = way.asked_bytes();
  run_for(seconds{2});
  EXPECT_EQ(way.asked_bytes(), settled);
  for (int beat = 0; beat < 5; ++beat) {
    EXPECT_TRUE(keep_alive(*one, "s", seconds{30}));
    EXPECT_EQ(alive(*one).size(), 1U);
  }
  EXPECT_GT(way.asked_bytes(), settled);
  EXPECT_LT(way.asked_bytes() - settled, 5U * 2U * 400U);
}

TEST_F(EtcdRegisterTest, OneOfTwoEndpointsMayBeDeadOrAsleep) {
  EtcdServer asleep;
  ASSERT_TRUE(asleep.process().runs());
  const std::string dead = "http://127.0.0.1:" + std::to_string(net::free_port());
  const auto one = make(*loop_, {.endpoints = {dead, server_.url()}, .prefix = prefix_});
  EXPECT_EQ(write(*one, 0, "first"), Epoch{1});

  asleep.process().freeze();
  const auto two = make(*loop_, {.endpoints = {asleep.url(), server_.url()},
                                 .prefix = prefix_,
                                 .request_timeout = milliseconds{300}});
  EXPECT_EQ(read(*two)->text, "first");
  const Instant begun = loop_->now();
  EXPECT_EQ(read(*two)->text, "first");
  EXPECT_LT(loop_->now() - begun, milliseconds{250}) << "the one asleep was asked again";
}

TEST_F(EtcdRegisterTest, TheWatchLeavesAnEndpointThatSaysNothing) {
  Forwarder way(*loop_, server_.address());
  const auto one =
      make(*loop_, {.endpoints = {"http://" + net::to_string(way.address()), server_.url()},
                    .prefix = prefix_,
                    .request_timeout = milliseconds{300}});
  const auto writer = make(*loop_, {.endpoints = {server_.url()}, .prefix = prefix_});
  std::uint64_t told = 0;
  one->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  ASSERT_TRUE(write(*writer, 0, "first"));
  EXPECT_TRUE(eventually([&] { return told == 1; }));
  const std::uint64_t asked = way.asked_bytes();
  EXPECT_GT(asked, 0U) << "it was not on that endpoint";
  way.swallow_answers(true);
  EXPECT_EQ(read(*one)->text, "first");
  ASSERT_TRUE(write(*writer, 1, "second"));
  EXPECT_TRUE(eventually([&] { return told == 2; }));
}

TEST_F(EtcdRegisterTest, ARegisterOfAnotherProgramIsAnErrorThatNamesTheKey) {
  server_.post("/v3/kv/put", "{\"key\":\"" + etcd::to_base64(prefix_ + "/document") +
                                 "\",\"value\":\"" + etcd::to_base64("{}") + "\"}");
  const auto one = make(*loop_, {.endpoints = {server_.url()}, .prefix = prefix_});
  const auto refused = read(*one);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(prefix_ + "/document"), std::string::npos)
      << refused.error().message;
}

TEST_F(EtcdRegisterTest, OptionsThatCannotBeAreRefused) {
  struct Case {
    EtcdOptions options;
    std::string part;
  };
  const Case cases[] = {
      {{}, "no endpoint"},
      {{.endpoints = {"127.0.0.1:2379"}}, "127.0.0.1:2379"},
      {{.endpoints = {"http://127.0.0.1"}}, "http://127.0.0.1"},
      {{.endpoints = {"http://127.0.0.1:1"}, .prefix = "main"}, "'main'"},
      {{.endpoints = {"http://127.0.0.1:1"}, .prefix = "/main/"}, "'/main/'"},
      {{.endpoints = {"https://127.0.0.1:1"}, .ca_file = "/nowhere/ca"}, "/nowhere/ca"},
  };
  for (const Case& one : cases) {
    const auto made = make_etcd(*loop_, one.options);
    ASSERT_FALSE(made) << one.part;
    EXPECT_EQ(made.error().code, Code::kInvalid);
    EXPECT_NE(made.error().message.find(one.part), std::string::npos) << made.error().message;
  }
}

class EtcdSecurity : public ::testing::Test, protected RegisterCalls {};

TEST_F(EtcdSecurity, PasswordsTokensAndWhatIsWrongWithThem) {
  EtcdServer server;
  ASSERT_FALSE(HasFailure());
  const auto early =
      make(*loop_, {.endpoints = {server.url()}, .user = "root", .password = "pass"});
  EXPECT_EQ(write(*early, 0, "off"), Epoch{1}) << "a user is no harm where nobody asks for one";

  server.post("/v3/auth/user/add", R"({"name":"root","password":"pass"})");
  server.post("/v3/auth/role/add", R"({"name":"root"})");
  server.post("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  server.post("/v3/auth/enable", "{}");
  EXPECT_EQ(write(*early, 1, "switched on"), Epoch{2});

  const auto one = make(*loop_, {.endpoints = {server.url()}, .user = "root", .password = "pass"});
  std::uint64_t told = 0;
  one->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  EXPECT_EQ(write(*one, 2, "on"), Epoch{3});
  EXPECT_TRUE(keep_alive(*one, "s", seconds{10}));
  EXPECT_TRUE(eventually([&] { return told == 3; }));

  const auto wrong = make(*loop_, {.endpoints = {server.url()}, .user = "root", .password = "no"});
  const auto refused = read(*wrong);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_NE(refused.error().message.find("refused user 'root'"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("invalid user ID or password"), std::string::npos);
  const auto nobody = make(*loop_, {.endpoints = {server.url()}});
  EXPECT_FALSE(read(*nobody));

  // A restart forgets every token (they are of the simple kind): they are renewed.
  server.process().kill();
  server.start();
  EXPECT_TRUE(eventually([&] { return read(*one).has_value(); }));
  EXPECT_EQ(write(*early, 3, "again"), Epoch{4});
  EXPECT_TRUE(eventually([&] { return told == 4; })) << "the watch has no token any more";
}

TEST_F(EtcdSecurity, Tls) {
  EtcdServer server(true);
  ASSERT_FALSE(HasFailure());
  const EtcdOptions options{.endpoints = {server.url()},
                            .ca_file = server.certificate().certificate};
  const auto one = make(*loop_, options);
  const auto two = make(*loop_, options);
  std::uint64_t told = 0;
  two->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  EXPECT_EQ(write(*one, 0, std::string(1'500'000, 'x')), Epoch{1});
  EXPECT_EQ(read(*two)->text.size(), 1'500'000U);
  EXPECT_TRUE(eventually([&] { return told == 1; }));
  const auto stranger = make(*loop_, {.endpoints = {server.url()}, .call_timeout = seconds{1}});
  const auto refused = read(*stranger);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("self-signed"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace cleave::coord
