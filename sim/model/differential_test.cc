// Holds the model server to the real one: the same random commands give the same replies.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "base/rng.h"
#include "sim/model/command.h"
#include "sim/model/server.h"
#include "wire/resp.h"

namespace cleave::sim {
namespace {

using Args = std::vector<std::string>;

std::string encoded(const Args& args) {
  std::string out;
  const std::vector<std::string_view> views(args.begin(), args.end());
  wire::append_command(out, views);
  return out;
}

// A port that was free a moment ago.
std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(fd, generic, size), 0);
  EXPECT_EQ(getsockname(fd, generic, &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

// A real redis-server in a directory of its own, and one blocking connection to it.
class RealServer {
 public:
  RealServer() : port_(free_port()) {
    std::string pattern = testing::TempDir() + "cleave-redis-XXXXXX";
    directory_ = mkdtemp(pattern.data());
    pid_ = fork();
    if (pid_ == 0) {
      const std::string port = std::to_string(port_);
      execlp("redis-server", "redis-server", "--port", port.c_str(), "--bind", "127.0.0.1",
             "--save", "", "--dir", directory_.c_str(), "--logfile", "redis.log", nullptr);
      _exit(127);
    }
    connect_patiently();
  }

  ~RealServer() {
    if (fd_ >= 0) close(fd_);
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    unlink((directory_ + "/redis.log").c_str());
    rmdir(directory_.c_str());
  }
  RealServer(const RealServer&) = delete;
  RealServer& operator=(const RealServer&) = delete;

  bool connected() const { return fd_ >= 0; }

  std::string ask(const Args& args) {
    const std::string bytes = encoded(args);
    EXPECT_EQ(write(fd_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    wire::ReplyScanner scanner{Limits{}};
    while (true) {
      const auto size = scanner.scan(pending_);
      if (!size) return "broken: " + size.error().message;
      if (*size > 0) {
        std::string reply = pending_.substr(0, *size);
        pending_.erase(0, *size);
        return reply;
      }
      char buffer[65'536];
      const ssize_t got = read(fd_, buffer, sizeof buffer);
      if (got <= 0) return "closed";
      pending_.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  void connect_patiently() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int tries = 0; tries < 200; ++tries) {
      fd_ = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return;
      close(fd_);
      fd_ = -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
  }

  std::uint16_t port_;
  std::string directory_;
  pid_t pid_ = -1;
  int fd_ = -1;
  std::string pending_;
};

// The model with one connection; its clock shows what the real one shows.
class ModelClient final : public net::StreamEvents {
 public:
  ModelClient()
      : network_(scheduler_, {}),
        server_(scheduler_, network_, {.address = {"10.0.0.1", 6379}, .password = {}}),
        process_(network_.add_process("10.0.0.2")),
        loop_(network_, process_) {
    loop_.connect({"10.0.0.1", 6379}, milliseconds{100}, [this](auto result) {
      stream_ = std::move(*result);
      stream_->start(*this);
    });
    scheduler_.run_until(milliseconds{50});
  }

  void on_bytes(std::string_view bytes) override { pending_.append(bytes); }
  void on_closed(const Error& /*why*/) override { closed_ = true; }

  std::string ask(const Args& args) {
    pending_.clear();
    stream_->send(encoded(args));
    wire::ReplyScanner scanner{Limits{}};
    while (!closed_) {
      const auto size = scanner.scan(pending_);
      if (!size || *size > 0) return pending_;
      if (!scheduler_.step()) break;
    }
    return "no reply";
  }

  ModelServer& server() { return server_; }

 private:
  Scheduler scheduler_{7};
  Network network_;
  ModelServer server_;
  Process& process_;
  SimLoop loop_;
  std::unique_ptr<net::Stream> stream_;
  std::string pending_;
  bool closed_ = false;
};

// K key, F field, V value, N number, I index, B bad or odd time, T time, D a DUMP payload.
const std::vector<Args> kForms = {
    {"HMGET", "K", "F", "F"},
    {"HSTRLEN", "K", "F"},
    {"HINCRBY", "K", "F", "1"},
    {"SISMEMBER", "K", "F"},
    {"SMISMEMBER", "K", "F", "F"},
    {"ZMSCORE", "K", "F", "F"},
    {"GET", "K"},
    {"SET", "K", "V"},
    {"SET", "K", "V", "PX", "T"},
    {"SET", "K", "N"},
    {"SET", "K", "V", "EX", "B"},
    {"SET", "K", "V", "NX"},
    {"SET", "K", "V", "XX"},
    {"SET", "K", "V", "KEEPTTL"},
    {"SET", "K", "V", "GET"},
    {"SET", "K", "V", "NX", "XX"},
    {"SET", "K", "V", "NX", "GET"},
    {"SETNX", "K", "V"},
    {"SETEX", "K", "B", "V"},
    {"PSETEX", "K", "T", "V"},
    {"GETSET", "K", "V"},
    {"GETDEL", "K"},
    {"GETEX", "K"},
    {"GETEX", "K", "PERSIST"},
    {"GETEX", "K", "PX", "T"},
    {"DEL", "K"},
    {"DEL", "K", "K"},
    {"UNLINK", "K", "K", "K"},
    {"EXISTS", "K", "K"},
    {"TOUCH", "K", "K"},
    {"INCR", "K"},
    {"INCRBY", "K", "I"},
    {"DECR", "K"},
    {"DECRBY", "K", "I"},
    {"APPEND", "K", "V"},
    {"STRLEN", "K"},
    {"SETRANGE", "K", "I", "V"},
    {"GETRANGE", "K", "I", "I"},
    {"MGET", "K", "K", "K"},
    {"MSET", "K", "V", "K", "V"},
    {"MSET", "K", "V", "K"},
    {"EXPIRE", "K", "100"},
    {"EXPIRE", "K", "B"},
    {"PEXPIRE", "K", "T"},
    {"EXPIRE", "K", "200", "NX"},
    {"EXPIRE", "K", "300", "GT"},
    {"EXPIRE", "K", "50", "LT"},
    {"EXPIRE", "K", "50", "XX"},
    {"EXPIRE", "K", "1", "GT", "LT"},
    {"EXPIRE", "K", "1", "ZZ"},
    {"EXPIRE", "K", "1", "NX", "XX"},
    {"PEXPIREAT", "K", "4000000000000"},
    {"EXPIREAT", "K", "4000000000"},
    {"PEXPIREAT", "K", "1000"},
    {"PERSIST", "K"},
    {"TTL", "K"},
    {"PEXPIRETIME", "K"},
    {"EXPIRETIME", "K"},
    {"TYPE", "K"},
    {"RPUSH", "K", "V", "V"},
    {"LPUSH", "K", "V"},
    {"LPOP", "K"},
    {"LPOP", "K", "I"},
    {"RPOP", "K"},
    {"LRANGE", "K", "I", "I"},
    {"LLEN", "K"},
    {"HSET", "K", "F", "V"},
    {"HSET", "K", "F", "V", "F", "V"},
    {"HSET", "K", "F", "V", "F"},
    {"HGET", "K", "F"},
    {"HDEL", "K", "F", "F"},
    {"HGETALL", "K"},
    {"HLEN", "K"},
    {"SADD", "K", "F", "F"},
    {"SREM", "K", "F"},
    {"SMEMBERS", "K"},
    {"SCARD", "K"},
    {"ZADD", "K", "I", "F"},
    {"ZADD", "K", "I", "F", "1.5", "F"},
    {"ZADD", "K", "V", "F"},
    {"ZREM", "K", "F"},
    {"ZRANGE", "K", "I", "I"},
    {"ZRANGE", "K", "0", "-1", "WITHSCORES"},
    {"ZCARD", "K"},
    {"ZSCORE", "K", "F"},
    {"RENAME", "K", "K"},
    {"OBJECT", "FREQ", "K"},
    {"OBJECT", "IDLETIME", "K"},
    {"DUMP", "K"},
    {"RESTORE", "K", "0", "D"},
    {"RESTORE", "K", "0", "D", "REPLACE"},
    {"RESTORE", "K", "T", "D", "REPLACE"},
    {"RESTORE", "K", "4000000000000", "D", "REPLACE", "ABSTTL"},
    {"RESTORE", "K", "1000", "D", "REPLACE", "ABSTTL"},
    {"RESTORE", "K", "0", "V", "REPLACE"},
    {"RESTORE", "K", "0", "D", "REPLACE", "IDLETIME", "I"},
    {"RESTORE", "K", "0", "D", "REPLACE", "FREQ", "I"},
    {"RESTORE", "K", "B", "D"},
    {"MULTI"},
    {"EXEC"},
    {"DISCARD"},
    {"PING"},
    {"PING", "V"},
    {"ECHO", "V"},
    {"DBSIZE"},
    {"SELECT", "0"},
    {"NOSUCH", "K", "V"},
    {"GET"},
    {"SET", "K"},
    {"CLIENT", "GETNAME"},
    {"CLIENT", "SETNAME", "F"},
    {"CLIENT", "KILL", "ID", "999999"},
    {"CLIENT", "UNBLOCK", "999999"},
    {"WAIT", "0", "10"},
    {"GETEX", "K", "EX"},
    {"CLIENT", "KILL", "1.2.3.4:5"},
    {"SCAN", "x"},
    {"SCAN", "0", "COUNT", "0"},
};

// The random commands: few keys, so that types and expiries meet.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : rng_(seed) {}

  Args next() {
    Args args = kForms[rng_.below(kForms.size())];
    for (std::size_t i = 1; i < args.size(); ++i) fill(args[i]);
    return args;
  }

 private:
  void fill(std::string& word) {
    if (word == "K") word = "key" + std::to_string(rng_.below(6));
    if (word == "F") word = "f" + std::to_string(rng_.below(4));
    if (word == "N") word = std::to_string(rng_.below(1'000));
    if (word == "B") word = times_[rng_.below(std::size(times_))];
    if (word == "T") word = rng_.chance(1, 10) ? "0" : "600000";
    if (word == "I") word = integers_[rng_.below(std::size(integers_))];
    if (word == "V") word = values_[rng_.below(std::size(values_))];
  }

  static constexpr const char* integers_[] = {"0",
                                              "1",
                                              "-1",
                                              "2",
                                              "-2",
                                              "5",
                                              "-5",
                                              "100",
                                              "07",
                                              "x",
                                              "",
                                              "-0",
                                              "9223372036854775807",
                                              "-9223372036854775808",
                                              "9223372036854775808",
                                              "+1",
                                              " 1"};
  // None so short that one of the two clocks could pass it during the test.
  static constexpr const char* times_[] = {"0", "-1", "x", "600000", "9223372036854775807"};
  static constexpr const char* values_[] = {
      "a", "", "10", "9223372036854775807", "text\r\nmore", "0123456789abcdef", "-7"};
  Rng rng_;
};

bool in_any_order(const std::string& name) { return name == "HGETALL" || name == "SMEMBERS"; }

// The elements of an array reply, sorted (pairs of HGETALL stay together well enough).
std::string sorted(const std::string& raw) {
  const auto reply = wire::parse_reply(raw);
  if (!reply || reply->type != wire::Reply::Type::kArray) return raw;
  std::vector<std::string> texts;
  for (const wire::Reply& element : reply->elements) texts.push_back(element.text);
  std::sort(texts.begin(), texts.end());
  std::string joined;
  for (const std::string& text : texts) joined += text + '|';
  return joined;
}

// Runs both in step. Each has its own DUMP payloads, put where a command says "D".
class Duel {
 public:
  explicit Duel(RealServer& real) : real_(real) {
    EXPECT_EQ(real_.ask({"FLUSHALL"}), model_.ask({"FLUSHALL"}));
    EXPECT_EQ(real_.ask({"CLIENT", "SETNAME", "duel"}), model_.ask({"CLIENT", "SETNAME", "duel"}));
  }

  void play(const Args& args) {
    const std::string from_real = real_.ask(with_payload(args, real_payload_));
    const std::string from_model = model_.ask(with_payload(args, model_payload_));
    const std::string& name = args[0];
    if (name == "MULTI" && from_real.starts_with("+OK")) queued_.clear();
    if (from_real.starts_with("+QUEUED")) queued_.push_back(name);
    if (name == "EXEC" && std::ranges::any_of(queued_, nondeterministic)) return;
    if (name == "DUMP" && from_real.starts_with("$") && from_model.starts_with("$")) {
      keep_payloads(from_real, from_model);
    } else if (in_any_order(name)) {
      ASSERT_EQ(sorted(from_model), sorted(from_real)) << encoded(args);
    } else if (!clock_bound(args)) {
      ASSERT_EQ(from_model, from_real) << encoded(args);
    } else {
      // Relative to two clocks: the sign decides (absent, without expiry, some time).
      ASSERT_EQ(from_model.starts_with(":-"), from_real.starts_with(":-")) << encoded(args);
    }
  }

 private:
  static bool nondeterministic(const std::string& name) {
    return in_any_order(name) || name == "DUMP" || name == "PEXPIRETIME" || name == "EXPIRETIME" ||
           name == "TTL" || name == "OBJECT";
  }
  static bool clock_bound(const Args& args) {
    return args[0] == "PEXPIRETIME" || args[0] == "EXPIRETIME" || args[0] == "TTL" ||
           (args[0] == "OBJECT" && args[1] == "IDLETIME");
  }

  static Args with_payload(Args args, const std::string& payload) {
    for (std::size_t i = 1; i < args.size(); ++i)
      if (args[i] == "D") args[i] = payload;
    return args;
  }

  void keep_payloads(const std::string& from_real, const std::string& from_model) {
    const auto real = wire::parse_reply(from_real);
    const auto model = wire::parse_reply(from_model);
    ASSERT_EQ(real->type, model->type);
    if (real->type != wire::Reply::Type::kBulk) return;
    real_payload_ = real->text;
    model_payload_ = model->text;
  }

  RealServer& real_;
  ModelClient model_;
  std::string real_payload_ = "nothing dumped yet";
  std::string model_payload_ = "nothing dumped yet";
  std::vector<std::string> queued_;
};

class Differential : public testing::Test {
 protected:
  static void SetUpTestSuite() { real_ = std::make_unique<RealServer>(); }
  static void TearDownTestSuite() { real_.reset(); }
  static inline std::unique_ptr<RealServer> real_;
};

TEST_F(Differential, RandomCommandsGiveTheSameReplies) {
  ASSERT_TRUE(real_->connected()) << "redis-server does not start";
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Duel duel(*real_);
    Generator generator(seed);
    real_->ask({"DISCARD"});
    for (int step = 0; step < 400; ++step) {
      duel.play(generator.next());
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << step;
    }
    real_->ask({"DISCARD"});
  }
}

// What COMMAND says of a command: name, arity, keys, whether it writes.
using Facts = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool>;

std::map<std::string, Facts> facts_of(const wire::Reply& table) {
  std::map<std::string, Facts> facts;
  for (const wire::Reply& command : table.elements) {
    const auto& parts = command.elements;
    const auto& flags = parts[2].elements;
    const bool writes = std::any_of(flags.begin(), flags.end(),
                                    [](const wire::Reply& flag) { return flag.text == "write"; });
    facts[parts[0].text] = {parts[1].integer, parts[3].integer, parts[4].integer, parts[5].integer,
                            writes};
  }
  return facts;
}

TEST_F(Differential, CommandTableAgreesWithTheRealOne) {
  const auto real = wire::parse_reply(real_->ask({"COMMAND"}));
  const auto model = wire::parse_reply(ModelClient().ask({"COMMAND"}));
  ASSERT_TRUE(real && model);
  const auto of_real = facts_of(*real);
  for (const auto& [name, facts] : facts_of(*model)) {
    ASSERT_TRUE(of_real.contains(name)) << name;
    EXPECT_EQ(facts, of_real.at(name)) << name;
  }
}

}  // namespace
}  // namespace cleave::sim
