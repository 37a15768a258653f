// The router's own answers, decided and answered as a worker does it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "proxy/answers/registry.h"
#include "proxy/answers/server_commands.h"
#include "ring/edits/edits.h"
#include "route/route.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using Args = std::vector<std::string_view>;

// Two commands as a server of version 6.2 describes them.
constexpr std::string_view kGetEntry =
    "*7\r\n$3\r\nget\r\n:2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:1\r\n:1\r\n*0\r\n";
constexpr std::string_view kMsetEntry =
    "*7\r\n$4\r\nmset\r\n:-3\r\n*1\r\n+write\r\n:1\r\n:-1\r\n:2\r\n*0\r\n";
constexpr std::string_view kCommandEntry =
    "*7\r\n$7\r\ncommand\r\n:-1\r\n*0\r\n:0\r\n:0\r\n:0\r\n*0\r\n";

std::string reply_of_old_server() {
  return "*3\r\n" + std::string(kGetEntry) + std::string(kMsetEntry) + std::string(kCommandEntry);
}

std::string recorded_reply() {
  std::ifstream file(CLEAVE_SOURCE "/src/route/testdata/command_redis_7.0.15.resp",
                     std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

ring::Document document_of_two() {
  return *ring::create({.pool = "p",
                        .mark = "m",
                        .nodes = {{.id = NodeId{}, .name = "a", .members = {{"127.0.0.1:1", ""}}},
                                  {.id = NodeId{}, .name = "b", .members = {{"127.0.0.1:2", ""}}}},
                        .now = UnixMillis{1}});
}

class Answers : public testing::Test {
 protected:
  // The reply; a refusal of the table or of the answer counts as one.
  std::string answer(const Args& args) {
    const ring::RingSnapshot view = *ring::RingView::build(document);
    route::Decision decision;
    route::CommandRouter(commands->table(), limits).route(args, *view, decision);
    std::string out;
    if (decision.action == route::Action::kRefuse) {
      after = After::kRefused;
      wire::append_error(out, decision.refusal);
      return out;
    }
    EXPECT_EQ(decision.action, route::Action::kLocal) << args[0];
    last = kAnswers[decision.spec->handling.answer];
    after = last->handler({.args = args,
                           .spec = *decision.spec,
                           .client = client,
                           .commands = *commands,
                           .process = process,
                           .view = *view,
                           .limits = limits,
                           .password = password,
                           .now = seconds{100},
                           .wall = UnixMillis{1'700'000'000'123}},
                          out);
    wire::ReplyScanner scanner{Limits{}};
    EXPECT_EQ(scanner.scan(out).value_or(0), out.size()) << "exactly one reply: " << out;
    return out;
  }
  std::string refused(const Args& args) {
    const std::string reply = answer(args);
    EXPECT_EQ(after, After::kRefused) << args[0];
    return reply;
  }
  static std::size_t ours() {
    return static_cast<std::size_t>(std::ranges::count_if(kAnswers, &Answer::is_ours));
  }
  std::string text(const Args& args) { return wire::parse_reply(answer(args))->text; }

  std::shared_ptr<const ServerCommands> commands =
      *ServerCommands::learn(recorded_reply(), "7.0.15");
  ring::Document document = document_of_two();
  Limits limits;
  ProcessFacts process{"session-1", seconds{40}, 2};
  std::string password;
  ClientFacts client{
      .id = 9, .peer = "1.2.3.4:5", .name = {}, .since = seconds{90}, .authenticated = true};
  After after = After::kGoOn;
  const Answer* last = nullptr;
};

TEST_F(Answers, SimpleOnes) {
  EXPECT_EQ(answer({"PING"}), "+PONG\r\n");
  EXPECT_EQ(answer({"PING", ""}), "$0\r\n\r\n");
  EXPECT_EQ(answer({"PING", "a", "b"}), "-ERR wrong number of arguments for 'ping' command\r\n");
  EXPECT_EQ(answer({"ECHO", "a\r\n"}), "$3\r\na\r\n\r\n");
  EXPECT_EQ(answer({"SELECT", "0"}), "+OK\r\n");
  EXPECT_EQ(answer({"TIME"}), "*2\r\n$10\r\n1700000000\r\n$6\r\n123000\r\n");
  EXPECT_EQ(after, After::kGoOn);
  EXPECT_EQ(answer({"QUIT"}), "+OK\r\n");
  EXPECT_EQ(after, After::kClose);
}

// Every text here was read off redis-server 7.0.15, but for those with "not supported".
TEST_F(Answers, RefusalsAreCounted) {
  EXPECT_EQ(refused({"select", "1x"}), "-ERR value is not an integer or out of range\r\n");
  EXPECT_EQ(refused({"select", "3"}),
            "-ERR 'select' is not supported: there is only database 0\r\n");
  EXPECT_EQ(refused({"hello", "3"}), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(refused({"hello", "abc"}),
            "-ERR Protocol version is not an integer or out of range\r\n");
  EXPECT_EQ(refused({"Client", "foo"}), "-ERR unknown subcommand 'foo'. Try CLIENT HELP.\r\n");
  EXPECT_EQ(refused({"command", "foo"}), "-ERR unknown subcommand 'foo'. Try COMMAND HELP.\r\n");
  EXPECT_EQ(refused({"client", "kill", "x"}),
            "-ERR 'client|kill' is not supported: connections to the servers are shared by many "
            "clients\r\n");
  for (const Args& args : {Args{"client", "reply", "off"}, Args{"client", "no-evict", "on"}}) {
    EXPECT_TRUE(refused(args).starts_with("-ERR 'client|")) << args[1];
  }
}

TEST_F(Answers, Auth) {
  EXPECT_TRUE(answer({"AUTH", "x"}).starts_with("-ERR AUTH <password> called"));
  EXPECT_EQ(answer({"AUTH", "default", "any"}), "+OK\r\n");
  EXPECT_TRUE(answer({"AUTH", "nouser", "bad"}).starts_with("-WRONGPASS"));
  EXPECT_TRUE(answer({"HELLO", "2", "AUTH", "nouser", "bad"}).starts_with("-WRONGPASS"));
  password = "p";
  client.authenticated = false;
  for (const std::string_view wrong : {std::string_view("x"), std::string_view(),
                                       std::string_view("pp"), std::string_view("p\0", 2)}) {
    EXPECT_TRUE(answer({"AUTH", wrong}).starts_with("-WRONGPASS")) << wrong;
  }
  EXPECT_TRUE(answer({"AUTH", "bob", "p"}).starts_with("-WRONGPASS"));
  EXPECT_FALSE(client.authenticated);
  EXPECT_EQ(answer({"AUTH", "default", "p"}), "+OK\r\n");
  EXPECT_TRUE(client.authenticated);
  EXPECT_EQ(answer({"RESET"}), "+RESET\r\n");
  EXPECT_FALSE(client.authenticated);
}

TEST_F(Answers, Hello) {
  password = "p";
  client.authenticated = false;
  EXPECT_TRUE(answer({"HELLO", "2"}).starts_with("-NOAUTH"));
  EXPECT_TRUE(answer({"HELLO", "2", "AUTH", "default"}).starts_with("-ERR Syntax"));
  EXPECT_TRUE(answer({"HELLO", "2", "AUTH", "default", "no"}).starts_with("-WRONG"));
  EXPECT_TRUE(answer({"hello", "2", "setname", "n", "auth", "default", "p"}).starts_with("*14"));
  EXPECT_EQ(client.name, "n");
  EXPECT_TRUE(client.authenticated);
}

TEST_F(Answers, WhatNeedsNoPassword) {
  for (const char* name : {"auth", "HELLO", "quit", "Reset"}) EXPECT_TRUE(needs_no_password(name));
  for (const char* name : {"ping", "cleave.help", "get", ""}) EXPECT_FALSE(needs_no_password(name));
}

TEST_F(Answers, Client) {
  EXPECT_EQ(answer({"CLIENT", "ID"}), ":9\r\n");
  EXPECT_EQ(answer({"CLIENT", "GETNAME"}), "$0\r\n\r\n");
  EXPECT_TRUE(answer({"CLIENT", "SETNAME", "a b"}).starts_with("-ERR"));
  EXPECT_EQ(answer({"CLIENT", "SETNAME", "ab"}), "+OK\r\n");
  EXPECT_EQ(answer({"client", "getname"}), "$2\r\nab\r\n");
  EXPECT_EQ(answer({"CLIENT", "SETINFO", "LIB-VER", "1"}), "+OK\r\n");
  const std::string list = answer({"CLIENT", "LIST"});
  EXPECT_NE(list.find("id=9 addr=1.2.3.4:5 name=ab age=10 "), std::string::npos) << list;
  EXPECT_EQ(answer({"CLIENT", "LIST", "TYPE", "normal"}), list);
  EXPECT_EQ(answer({"CLIENT", "LIST", "ID", "1", "9"}), list);
  EXPECT_EQ(answer({"CLIENT", "LIST", "TYPE", "pubsub"}), "$0\r\n\r\n");
  EXPECT_EQ(answer({"CLIENT", "LIST", "x"}), "-ERR syntax error\r\n");
  EXPECT_EQ(answer({"CLIENT", "LIST", "TYPE", "x"}), "-ERR Unknown client type 'x'\r\n");
}

TEST_F(Answers, ARefusedMultiLastsUntilExecOrDiscard) {
  EXPECT_EQ(answer({"EXEC"}), "-ERR EXEC without MULTI\r\n");
  EXPECT_EQ(answer({"DISCARD"}), "-ERR DISCARD without MULTI\r\n");
  EXPECT_TRUE(answer({"MULTI"}).starts_with("-ERR 'multi' is not supported"));
  EXPECT_TRUE(client.multi_refused);
  EXPECT_EQ(answer({"MULTI"}), "-ERR MULTI calls can not be nested\r\n");
  EXPECT_TRUE(last->ends_multi);
  EXPECT_EQ(answer({"EXEC"}), "-EXECABORT Transaction discarded because of previous errors.\r\n");
  EXPECT_TRUE(last->ends_multi);
  EXPECT_FALSE(client.multi_refused);
  answer({"MULTI"});
  EXPECT_EQ(answer({"DISCARD"}), "+OK\r\n");
  answer({"MULTI"});
  answer({"RESET"});
  EXPECT_FALSE(client.multi_refused);
  answer({"PING"});
  EXPECT_FALSE(last->ends_multi);
}

TEST_F(Answers, CommandIsTheServersTableAndOurs) {
  const wire::Reply told = *wire::parse_reply(recorded_reply());
  const std::size_t all = told.elements.size() + ours();
  EXPECT_EQ(wire::parse_reply(answer({"COMMAND"}))->elements.size(), all);
  EXPECT_EQ(answer({"COMMAND", "COUNT"}), ":" + std::to_string(all) + "\r\n");
  for (const Answer* each : kAnswers) {
    if (!each->is_ours()) continue;
    SCOPED_TRACE(each->name);
    const wire::Reply info = *wire::parse_reply(answer({"COMMAND", "INFO", each->name}));
    const wire::Reply& entry = info.elements.at(0);
    ASSERT_EQ(entry.elements.size(), told.elements[0].elements.size());
    EXPECT_EQ(entry.elements[0].text, each->name);
    EXPECT_EQ(entry.elements[1].integer, each->arity);
    EXPECT_EQ(entry.elements[3].integer, each->key);
    const route::CommandSpec& spec = *commands->table().find(each->name);
    EXPECT_EQ(spec.only_key, each->key);
    EXPECT_FALSE(spec.writes || spec.keys_unknown);
    const wire::Reply docs = *wire::parse_reply(answer({"COMMAND", "DOCS", "get", each->name}));
    ASSERT_EQ(docs.elements.size(), 2U);
    EXPECT_EQ(docs.elements[0].text, each->name);
    EXPECT_EQ(docs.elements[1].elements.at(1).text, each->summary);
  }
  EXPECT_EQ(answer({"COMMAND", "DOCS", "get"}), "*0\r\n");
  EXPECT_EQ(wire::parse_reply(answer({"COMMAND", "DOCS"}))->elements.size(), 2 * ours());
  EXPECT_EQ(answer({"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}),
            "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_TRUE(answer({"COMMAND", "GETKEYS", "GET"}).starts_with("-ERR"));
}

TEST_F(Answers, CommandOfAnOlderServerStaysInItsForm) {
  commands = *ServerCommands::learn(reply_of_old_server(), "6.2.0");
  const std::string all = answer({"COMMAND"});
  EXPECT_EQ(wire::parse_reply(all)->elements.size(), 3 + ours());
  EXPECT_NE(all.find("\r\n" + std::string(kGetEntry) + std::string(kMsetEntry)), std::string::npos);
  EXPECT_EQ(answer({"COMMAND", "INFO", "nope", "GET"}), "*2\r\n*-1\r\n" + std::string(kGetEntry));
  EXPECT_EQ(answer({"COMMAND", "INFO", "Cleave.Help"}),
            "*1\r\n*7\r\n$11\r\ncleave.help\r\n:1\r\n*3\r\n+loading\r\n+stale\r\n+fast\r\n"
            ":0\r\n:0\r\n:0\r\n*2\r\n+@fast\r\n+@connection\r\n");
  EXPECT_NE(answer({"COMMAND", "LIST"}).find("$7\r\ncommand\r\n$3\r\nget\r\n$4\r\nmset\r\n"),
            std::string::npos);
  EXPECT_TRUE(answer({"COMMAND", "GETKEYS"}).starts_with("-ERR"));
  EXPECT_TRUE(answer({"COMMAND", "NOPE"}).starts_with("-ERR"));
  EXPECT_TRUE(answer({"CLEAVE.HELP"}).starts_with("*"));
}

// A router in front of routers: their entries stand already.
TEST_F(Answers, CommandOfARouterIsTakenAsItIs) {
  const std::string once = answer({"COMMAND"});
  commands = *ServerCommands::learn(once, "7.0.15");
  EXPECT_EQ(answer({"COMMAND"}), once);
}

TEST_F(Answers, InfoHasRedissLinesAndSections) {
  process.workers[0].requests.add(5);
  process.workers[1].requests.add(2);
  const std::string all = text({"INFO"});
  EXPECT_NE(all.find("# Server\r\nredis_version:7.0.15\r\n"), std::string::npos);
  EXPECT_NE(all.find("total_commands_processed:7\r\n"), std::string::npos);
  EXPECT_NE(all.find("uptime_in_seconds:60\r\n"), std::string::npos);
  EXPECT_NE(all.find("cleave_nodes:2\r\ncleave_epoch:1\r\n"), std::string::npos) << all;
  EXPECT_EQ(text({"INFO", "REPLICATION"}),
            "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
  EXPECT_EQ(text({"INFO", "nothing"}), "");
}

TEST_F(Answers, HelpNamesEveryOne) {
  const wire::Reply help = *wire::parse_reply(answer({"cleave.help"}));
  ASSERT_EQ(help.elements.size(), 2 * kAnswers.size());
  for (std::size_t i = 0; i < kAnswers.size(); ++i) {
    EXPECT_EQ(help.elements[2 * i].text, usage(*kAnswers[i]));
    EXPECT_EQ(help.elements[2 * i + 1].text, "    " + std::string(kAnswers[i]->summary));
  }
  EXPECT_EQ(usage(kEchoAnswer), "ECHO message");
}

TEST_F(Answers, EveryoneIsWholeAndNamedOnce) {
  for (const Answer* answer : kAnswers) {
    SCOPED_TRACE(answer->name);
    EXPECT_NE(answer->handler, nullptr);
    EXPECT_FALSE(answer->summary.empty());
    EXPECT_EQ(std::ranges::count(kAnswers, answer->name, &Answer::name), 1);
    EXPECT_EQ(answer->is_ours(), answer->arity != 0) << "servers tell the arity of theirs";
    EXPECT_EQ(answer->is_ours(), !answer->since.empty());
    const route::CommandSpec* const spec = commands->table().find(answer->name);
    ASSERT_NE(spec, nullptr);
    EXPECT_EQ(spec->handling.action, route::Action::kLocal);
    EXPECT_EQ(kAnswers[spec->handling.answer], answer);
  }
}

TEST_F(Answers, TheDocsHaveTheTableOfThisRegistry) {
  std::ifstream file(CLEAVE_SOURCE "/docs/commands.md");
  const std::string docs{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(docs.find("\n" + answers_table()), std::string::npos)
      << "docs/commands.md should have this table:\n"
      << answers_table();
}

TEST(ServerCommandsTest, RefusesWhatIsNoCommandReply) {
  EXPECT_FALSE(ServerCommands::learn("-ERR no\r\n", "7").has_value());
  EXPECT_FALSE(ServerCommands::learn("", "7").has_value());
  EXPECT_FALSE(ServerCommands::learn("*1\r\n:1\r\n", "7").has_value());
  EXPECT_FALSE(ServerCommands::learn("*0\r\n", "7").has_value());
}

}  // namespace
}  // namespace cleave::proxy
