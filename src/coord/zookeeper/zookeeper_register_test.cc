#include "coord/zookeeper/zookeeper_register.h"

#include <atomic>
#include <fstream>

#include "coord/parts.h"
#include "coord/register_faults.h"
#include "coord/zookeeper/session.h"

namespace cleave::coord {
namespace {

// A real ZooKeeper, run from Debian's jars. A JVM takes its time to start: one for all tests, each
// with a prefix of its own.
class ZookeeperServer {
 public:
  ZookeeperServer() {
    if (!is_installed("java", "default-jre")) return;
    if (!std::filesystem::exists(kJars + "zookeeper.jar")) {
      ADD_FAILURE() << kJars << "zookeeper.jar is not installed: run `make setup`, or install "
                    << "Debian's package zookeeper";
      return;
    }
    std::ofstream(process_.directory() + "/zoo.cfg")
        << "tickTime=500\nminSessionTimeout=500\nmaxClientCnxns=0\nadmin.enableServer=false\n"
        << "4lw.commands.whitelist=ruok\nclientPortAddress=127.0.0.1\nclientPort=" << port_
        << "\ndataDir=" << process_.directory() << "/data\n";
    start();
  }

  void start() {
    std::string classes;
    for (const std::string jar :
         {"zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple", "netty-all", "netty-handler",
          "netty-common", "netty-buffer", "netty-transport", "netty-codec", "netty-resolver",
          "netty-transport-native-unix-common", "metrics-core", "snappy-java", "commons-cli",
          "commons-io"})
      classes += kJars + jar + ".jar:";
    process_.start(
        {"java", "-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classes,
         "org.apache.zookeeper.server.quorum.QuorumPeerMain", process_.directory() + "/zoo.cfg"},
        [this] { return answers(); });
  }

  net::Address address() const { return {.host = "127.0.0.1", .port = port_}; }
  ServerProcess& process() { return process_; }

 private:
  // Its four-letter command "ruok".
  bool answers() const {
    struct Heard final : net::StreamEvents {
      void on_bytes(std::string_view bytes) override { text += bytes; }
      void on_closed(const Error&) override { loop->stop(); }
      std::string text;
      net::AsioLoop* loop = nullptr;
    } heard;
    const auto loop = net::make_loop();
    heard.loop = loop.get();
    std::unique_ptr<net::Stream> stream;
    loop->after(seconds{1}, [&] { loop->stop(); });
    loop->connect(address(), seconds{1}, [&](Result<std::unique_ptr<net::Stream>> made) {
      if (!made) return loop->stop();
      stream = std::move(*made);
      stream->start(heard);
      stream->send("ruok");
    });
    loop->run();
    return heard.text == "imok";
  }

  const std::string kJars = "/usr/share/java/";
  ServerProcess process_;
  const std::uint16_t port_ = net::free_port();
};

ZookeeperServer& shared_server() {
  static ZookeeperServer server;
  // Each test says so, not only the first.
  EXPECT_TRUE(server.process().runs()) << "the server is not installed or did not start";
  return server;
}

std::string fresh_prefix() {
  static std::atomic<int> count = 0;
  return "/cleave/test" + std::to_string(++count);
}

std::unique_ptr<Register> make(net::Loop& loop, ZookeeperOptions options) {
  auto made = make_zookeeper(loop, std::move(options));
  EXPECT_TRUE(made) << made.error().message;
  return made ? std::move(*made) : nullptr;
}

class ZookeeperWorld final : public ServerWorld {
 public:
  std::unique_ptr<Register> attach(net::Loop& loop) override {
    return make(loop, {.servers = {net::to_string(server_.address())},
                       .prefix = prefix_,
                       .call_timeout = seconds{3}});
  }
  std::unique_ptr<Register> attach_by(net::Loop& loop, const Forwarder& way) override {
    return make(loop, {.servers = {net::to_string(way.address())},
                       .prefix = prefix_,
                       .session_timeout = seconds{3},
                       .call_timeout = seconds{3}});
  }
  net::Address address() const override { return server_.address(); }
  ServerProcess& process() override { return server_.process(); }
  void start_again() override { server_.start(); }

 private:
  ZookeeperServer& server_ = shared_server();
  const std::string prefix_ = fresh_prefix();
};

std::unique_ptr<RegisterWorld> make_world() { return std::make_unique<ZookeeperWorld>(); }
std::unique_ptr<ServerWorld> make_server_world() { return std::make_unique<ZookeeperWorld>(); }

INSTANTIATE_TEST_SUITE_P(Zookeeper, RegisterConformance, ::testing::Values(&make_world));
INSTANTIATE_TEST_SUITE_P(Zookeeper, RegisterFaults, ::testing::Values(&make_server_world));

class ZookeeperRegisterTest : public ::testing::Test, protected RegisterCalls {
 protected:
  void SetUp() override {
    if (HasFailure()) FAIL() << "there is no ZooKeeper to test with";
  }
  std::string url() const { return net::to_string(server_.address()); }
  std::size_t count_of_parts(zookeeper::Session& session) {
    const auto listed = wait<zookeeper::Answer>([&](Done<zookeeper::Answer> done) {
      session.call({.kind = zookeeper::Operation::Kind::kList, .path = prefix_ + "/parts"},
                   zookeeper::Session::Repeat::kAllowed, std::move(done));
    });
    EXPECT_TRUE(listed) << listed.error().message;
    return listed ? listed->children.size() : 99;
  }

  ZookeeperServer& server_ = shared_server();
  const std::string prefix_ = fresh_prefix();
};

TEST_F(ZookeeperRegisterTest, AnExpiredSessionIsReplacedAndTheLeaseGrantedAnew) {
  Forwarder way(*loop_, server_.address());
  const auto one = make(*loop_, {.servers = {net::to_string(way.address())},
                                 .prefix = prefix_,
                                 .session_timeout = milliseconds{1'000}});
  const auto other = make(*loop_, {.servers = {url()}, .prefix = prefix_});
  ASSERT_TRUE(write(*other, 0, "first"));
  std::uint64_t told = 0;
  one->watch([&](const Stored& stored) { told = stored.epoch.value(); });
  ASSERT_TRUE(keep_alive(*one, "a", seconds{60}));
  EXPECT_EQ(alive(*other), std::vector<std::string>{"a"});
  EXPECT_TRUE(eventually([&] { return told == 1; }));

  way.cut();
  EXPECT_TRUE(eventually([&] { return alive(*other).empty(); }))
      << "a router that cannot be heard keeps its lease";
  ASSERT_TRUE(write(*other, 1, "meanwhile"));
  way.mend();
  EXPECT_TRUE(eventually([&] { return keep_alive(*one, "a", seconds{60}).has_value(); }));
  EXPECT_EQ(alive(*other), std::vector<std::string>{"a"});
  EXPECT_TRUE(eventually([&] { return told == 2; })) << "the new session has no watch";
}

TEST_F(ZookeeperRegisterTest, PartsOfOldDocumentsAndOfLostRacesGo) {
  const ZookeeperOptions options{.servers = {url()}, .prefix = prefix_};
  const auto one = make(*loop_, options);
  zookeeper::Session session(*loop_, options);
  ASSERT_TRUE(write(*one, 0, std::string(3'000'000, 'a')));
  EXPECT_EQ(count_of_parts(session), 6U);
  // What a writer of epoch 2 leaves that died before its head.
  const Part left = split(Epoch{2}, std::string(kPartBytes + 1, 'c')).parts.front();
  ASSERT_TRUE(wait<zookeeper::Answer>([&](Done<zookeeper::Answer> done) {
    session.call({.kind = zookeeper::Operation::Kind::kCreate,
                  .path = prefix_ + "/parts/" + left.name,
                  .value = left.bytes},
                 zookeeper::Session::Repeat::kAllowed, std::move(done));
  }));
  ASSERT_TRUE(write(*one, 1, std::string(1'200'000, 'b')));
  EXPECT_TRUE(eventually([&] { return count_of_parts(session) == 4; }));
  ASSERT_TRUE(write(*one, 2, "small"));
  EXPECT_TRUE(eventually([&] { return count_of_parts(session) == 0; }));
}

TEST_F(ZookeeperRegisterTest, OneOfTwoServersMayBeDead) {
  const std::string dead = "127.0.0.1:" + std::to_string(net::free_port());
  for (int i = 0; i < 4; ++i) {  // the client begins with any
    const auto one = make(*loop_, {.servers = {dead, url()}, .prefix = prefix_});
    EXPECT_TRUE(read(*one));
  }
}

TEST_F(ZookeeperRegisterTest, ADocumentOfAnotherUserIsAClearError) {
  const ZookeeperOptions right{
      .servers = {url()}, .prefix = prefix_, .user = "cleave", .password = "right"};
  const auto one = make(*loop_, right);
  ASSERT_TRUE(write(*one, 0, "secret"));
  const auto two = make(*loop_, right);
  EXPECT_EQ(read(*two)->text, "secret");
  ZookeeperOptions wrong = right;
  wrong.password = "wrong";
  const auto stranger = make(*loop_, wrong);
  const auto refused = write(*stranger, 1, "never");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable);
  EXPECT_NE(refused.error().message.find("user 'cleave'"), std::string::npos)
      << refused.error().message;
  EXPECT_FALSE(read(*stranger));
}

TEST_F(ZookeeperRegisterTest, OptionsThatCannotBeAreRefused) {
  struct Case {
    ZookeeperOptions options;
    std::string part;
  };
  const Case cases[] = {
      {{}, "no server"},
      {{.servers = {"nowhere"}}, "nowhere"},
      {{.servers = {"127.0.0.1:1"}, .prefix = "main"}, "'main'"},
      {{.servers = {"127.0.0.1:1"}, .prefix = "/"}, "'/'"},
  };
  for (const Case& one : cases) {
    const auto made = make_zookeeper(*loop_, one.options);
    ASSERT_FALSE(made) << one.part;
    EXPECT_EQ(made.error().code, Code::kInvalid);
    EXPECT_NE(made.error().message.find(one.part), std::string::npos) << made.error().message;
  }
}

TEST_F(ZookeeperRegisterTest, AnUnknownHostIsAnErrorOfTheCallAndDestroyingIsQuick) {
  auto one =
      make(*loop_, {.servers = {"no.such.host.invalid:2181"}, .call_timeout = milliseconds{300}});
  const auto refused = read(*one);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnavailable) << refused.error().message;
  one->read([](const Result<Stored>&) { FAIL() << "answered after its destruction"; });
  one.reset();
  run_for(milliseconds{400});
}

// Also what has to be read and written before the compare-and-set itself: whoever waits for an
// order would else be told that nobody knows, of what was never sent.
TEST_F(ZookeeperRegisterTest, AWriteThatCannotBeSentIsRefusedInTimeAndForGood) {
  auto one = make(*loop_, {.servers = {"127.0.0.1:1"}});
  for (const std::string& text : {std::string("{}"), std::string(2'000'000, 'x')}) {
    const Instant asked = loop_->now();
    const auto refused = wait<Epoch>(
        [&](Done<Epoch> done) { one->compare_and_set(Epoch{7}, text, std::move(done)); });
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kUnavailable) << refused.error().message;
    EXPECT_LT(loop_->now() - asked, milliseconds{1'700}) << "the patience of an order";
  }
}

}  // namespace
}  // namespace cleave::coord
