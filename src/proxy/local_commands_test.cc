#include "proxy/local_commands.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using route::Local;
using Args = std::vector<std::string_view>;

// Two commands as a server of version 7 describes them.
constexpr std::string_view kCommandReply =
    "*2\r\n"
    "*7\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*0\r\n"
    "*7\r\n$4\r\nmset\r\n:-3\r\n*1\r\n+write\r\n:1\r\n:-1\r\n:2\r\n*0\r\n";

class LocalCommands : public testing::Test {
 protected:
  std::string answer(Local what, const Args& args) {
    std::string out;
    after = answer_local(what, args, client, context(), out);
    wire::ReplyScanner scanner{Limits{}};
    EXPECT_EQ(scanner.scan(out).value_or(0), out.size()) << "exactly one reply: " << out;
    return out;
  }
  LocalContext context() const {
    return {.commands = *commands,
            .process = process,
            .password = password,
            .nodes = 3,
            .epoch = 7,
            .now = seconds{100},
            .wall = UnixMillis{1'700'000'000'123}};
  }

  std::shared_ptr<const ServerCommands> commands =
      *ServerCommands::learn(std::string(kCommandReply), "7.0.15");
  ProcessFacts process{"session-1", seconds{40}, 2};
  std::string password;
  ClientFacts client{
      .id = 9, .peer = "1.2.3.4:5", .name = {}, .since = seconds{90}, .authenticated = true};
  AfterLocal after = AfterLocal::kGoOn;
};

TEST_F(LocalCommands, SimpleOnes) {
  EXPECT_EQ(answer(Local::kPing, {"PING"}), "+PONG\r\n");
  EXPECT_EQ(answer(Local::kPing, {"PING", ""}), "$0\r\n\r\n");
  EXPECT_EQ(answer(Local::kPing, {"PING", "a", "b"}),
            "-ERR wrong number of arguments for 'ping' command\r\n");
  EXPECT_EQ(answer(Local::kEcho, {"ECHO", "a\r\n"}), "$3\r\na\r\n\r\n");
  EXPECT_EQ(answer(Local::kSelect, {"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(answer(Local::kTime, {"TIME"}), "*2\r\n$10\r\n1700000000\r\n$6\r\n123000\r\n");
  EXPECT_EQ(after, AfterLocal::kGoOn);
  EXPECT_EQ(answer(Local::kQuit, {"QUIT"}), "+OK\r\n");
  EXPECT_EQ(after, AfterLocal::kClose);
}

TEST_F(LocalCommands, Auth) {
  EXPECT_TRUE(answer(Local::kAuth, {"AUTH", "x"}).starts_with("-ERR AUTH <password> called"));
  EXPECT_EQ(answer(Local::kAuth, {"AUTH", "default", "any"}), "+OK\r\n");
  EXPECT_TRUE(answer(Local::kAuth, {"AUTH", "nouser", "bad"}).starts_with("-WRONGPASS"));
  EXPECT_TRUE(
      answer(Local::kHello, {"HELLO", "2", "AUTH", "nouser", "bad"}).starts_with("-WRONGPASS"));
  password = "p";
  client.authenticated = false;
  for (const std::string_view wrong : {std::string_view("x"), std::string_view(),
                                       std::string_view("pp"), std::string_view("p\0", 2)}) {
    EXPECT_TRUE(answer(Local::kAuth, {"AUTH", wrong}).starts_with("-WRONGPASS")) << wrong;
  }
  EXPECT_TRUE(answer(Local::kAuth, {"AUTH", "bob", "p"}).starts_with("-WRONGPASS"));
  EXPECT_FALSE(client.authenticated);
  EXPECT_EQ(answer(Local::kAuth, {"AUTH", "default", "p"}), "+OK\r\n");
  EXPECT_TRUE(client.authenticated);
  EXPECT_EQ(answer(Local::kReset, {"RESET"}), "+RESET\r\n");
  EXPECT_FALSE(client.authenticated);
}

TEST_F(LocalCommands, Hello) {
  password = "p";
  client.authenticated = false;
  EXPECT_TRUE(answer(Local::kHello, {"HELLO", "2"}).starts_with("-NOAUTH"));
  EXPECT_TRUE(answer(Local::kHello, {"HELLO", "2", "AUTH", "default"}).starts_with("-ERR Syntax"));
  EXPECT_TRUE(answer(Local::kHello, {"HELLO", "2", "AUTH", "default", "no"}).starts_with("-WRONG"));
  const Args whole{"hello", "2", "setname", "n", "auth", "default", "p"};
  EXPECT_TRUE(answer(Local::kHello, whole).starts_with("*14"));
  EXPECT_EQ(client.name, "n");
  EXPECT_TRUE(client.authenticated);
}

TEST_F(LocalCommands, Client) {
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "ID"}), ":9\r\n");
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "GETNAME"}), "$0\r\n\r\n");
  EXPECT_TRUE(answer(Local::kClient, {"CLIENT", "SETNAME", "a b"}).starts_with("-ERR"));
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "SETNAME", "ab"}), "+OK\r\n");
  EXPECT_EQ(answer(Local::kClient, {"client", "getname"}), "$2\r\nab\r\n");
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "SETINFO", "LIB-VER", "1"}), "+OK\r\n");
  const std::string list = answer(Local::kClient, {"CLIENT", "LIST"});
  EXPECT_NE(list.find("id=9 addr=1.2.3.4:5 name=ab age=10 "), std::string::npos) << list;
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "LIST", "TYPE", "normal"}), list);
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "LIST", "ID", "1", "9"}), list);
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "LIST", "TYPE", "pubsub"}), "$0\r\n\r\n");
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "LIST", "x"}), "-ERR syntax error\r\n");
  EXPECT_EQ(answer(Local::kClient, {"CLIENT", "LIST", "TYPE", "x"}),
            "-ERR Unknown client type 'x'\r\n");
}

TEST_F(LocalCommands, ARefusedMultiLastsUntilExecOrDiscard) {
  EXPECT_EQ(answer(Local::kExec, {"EXEC"}), "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(answer(Local::kDiscard, {"DISCARD"}), "-ERR DISCARD without MULTI\r\n");
  EXPECT_TRUE(answer(Local::kMulti, {"MULTI"}).starts_with("-ERR 'multi' is not supported"));
  EXPECT_TRUE(client.multi_refused);
  EXPECT_EQ(answer(Local::kMulti, {"MULTI"}), "-ERR MULTI calls can not be nested\r\n");
  EXPECT_EQ(answer(Local::kExec, {"EXEC"}),
            "-EXECABORT Transaction discarded because of previous errors.\r\n");
  EXPECT_FALSE(client.multi_refused);
  answer(Local::kMulti, {"MULTI"});
  EXPECT_EQ(answer(Local::kDiscard, {"DISCARD"}), "+OK\r\n");
  answer(Local::kMulti, {"MULTI"});
  answer(Local::kReset, {"RESET"});
  EXPECT_FALSE(client.multi_refused);
}

TEST_F(LocalCommands, Command) {
  EXPECT_EQ(answer(Local::kCommand, {"COMMAND"}), kCommandReply);
  EXPECT_EQ(answer(Local::kCommand, {"COMMAND", "COUNT"}), ":2\r\n");
  EXPECT_EQ(answer(Local::kCommand, {"COMMAND", "LIST"}), "*2\r\n$3\r\nget\r\n$4\r\nmset\r\n");
  EXPECT_EQ(answer(Local::kCommand, {"COMMAND", "DOCS", "get"}), "*0\r\n");
  EXPECT_EQ(answer(Local::kCommand, {"COMMAND", "INFO", "nope", "GET"}),
            "*2\r\n*-1\r\n"
            "*7\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*0\r\n");
  EXPECT_EQ(answer(Local::kCommand, {"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}),
            "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_TRUE(answer(Local::kCommand, {"COMMAND", "GETKEYS"}).starts_with("-ERR"));
  EXPECT_TRUE(answer(Local::kCommand, {"COMMAND", "GETKEYS", "GET"}).starts_with("-ERR"));
  EXPECT_TRUE(answer(Local::kCommand, {"COMMAND", "NOPE"}).starts_with("-ERR"));
}

TEST_F(LocalCommands, InfoHasRedissLinesAndSections) {
  process.workers[0].requests.add(5);
  process.workers[1].requests.add(2);
  const std::string all = info_text({}, context());
  EXPECT_NE(all.find("# Server\r\nredis_version:7.0.15\r\n"), std::string::npos);
  EXPECT_NE(all.find("total_commands_processed:7\r\n"), std::string::npos);
  EXPECT_NE(all.find("uptime_in_seconds:60\r\n"), std::string::npos);
  EXPECT_NE(all.find("cleave_epoch:7\r\n"), std::string::npos);
  const Args one{"REPLICATION"};
  EXPECT_EQ(info_text(one, context()), "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
  const Args none{"nothing"};
  EXPECT_EQ(info_text(none, context()), "");
}

TEST(ServerCommandsTest, RefusesWhatIsNoCommandReply) {
  EXPECT_FALSE(ServerCommands::learn("-ERR no\r\n", "7").has_value());
  EXPECT_FALSE(ServerCommands::learn("", "7").has_value());
  EXPECT_FALSE(ServerCommands::learn("*1\r\n:1\r\n", "7").has_value());
}

}  // namespace
}  // namespace cleave::proxy
