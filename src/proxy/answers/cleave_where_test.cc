#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "proxy/answers/registry.h"
#include "proxy/answers/server_commands.h"
#include "ring/edits/edits.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

class Where : public testing::Test {
 protected:
  Where() {
    ring::Creation creation{.pool = "p", .mark = "m", .nodes = {}, .now = UnixMillis{1}};
    for (const std::string name : {"a", "b"}) {
      const std::string address = name == "a" ? "127.0.0.1:1" : "127.0.0.1:2";
      creation.nodes.push_back(
          {.id = NodeId{}, .name = name, .members = {{.address = address, .rack = {}}}});
    }
    document = *ring::create(creation);
  }

  std::string raw(std::string_view key) {
    const std::vector<std::string_view> args{"CLEAVE.WHERE", key};
    const ring::RingSnapshot view = *ring::RingView::build(document);
    std::string out;
    after = kCleaveWhereAnswer.handler({.args = args,
                                        .spec = spec,
                                        .client = client,
                                        .commands = *commands,
                                        .process = process,
                                        .view = *view,
                                        .limits = limits,
                                        .password = {}},
                                       out);
    return out;
  }
  std::map<std::string, std::string> where(std::string_view key) {
    const wire::Reply reply = *wire::parse_reply(raw(key));
    EXPECT_EQ(reply.elements.size(), 14U);
    std::map<std::string, std::string> fields;
    for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
      const wire::Reply& value = reply.elements[i + 1];
      fields[reply.elements[i].text] =
          value.type == wire::Reply::Type::kInteger ? std::to_string(value.integer) : value.text;
    }
    return fields;
  }
  Epoch phase_epoch() const { return document.moves.front().phase_epoch; }

  ring::Document document;
  Limits limits;
  route::CommandSpec spec{.name = "cleave.where", .arity = 2};
  ClientFacts client;
  ProcessFacts process{"s", Instant{0}, 1};
  const std::shared_ptr<const ServerCommands> commands =
      *ServerCommands::learn("*1\r\n*6\r\n$3\r\nget\r\n:2\r\n*0\r\n:1\r\n:1\r\n:1\r\n", "7");
  After after = After::kGoOn;
};

TEST_F(Where, TellsTokenRangeOwnerAndEpoch) {
  const ring::RingSnapshot view = *ring::RingView::build(document);
  const Token token = view->token_of("k");
  const ring::Entry& entry = view->entry(view->find(token));
  const bool on_a = entry.node == NodeId{1};
  EXPECT_EQ(where("k"), (std::map<std::string, std::string>{
                            {"token", ring::to_hex(token)},
                            {"range", ring::to_string(entry.range)},
                            {"owner", on_a ? "a" : "b"},
                            {"address", on_a ? "127.0.0.1:1" : "127.0.0.1:2"},
                            {"epoch", "1"},
                            {"moving", "no"},
                            {"to", ""},
                        }));
  EXPECT_EQ(where("{k}1").at("token"), where("{k}2").at("token"));
}

TEST_F(Where, FollowsAMoveToTheNewOwner) {
  const ring::RingSnapshot view = *ring::RingView::build(document);
  const Token token = view->token_of("k");
  const NodeId source = view->owner(token);
  const std::string other = source == NodeId{1} ? "b" : "a";
  document = *ring::begin_move(document, {.ranges = {{token, token}},
                                          .source = source,
                                          .destination = NodeId{3 - source.value()},
                                          .reason = {},
                                          .now = UnixMillis{1}});
  const MoveId move = document.moves.front().id;
  auto seen = where("k");
  EXPECT_EQ(seen["moving"], "copying");
  EXPECT_EQ(seen["to"], other);
  EXPECT_NE(seen["owner"], other);
  EXPECT_EQ(seen["range"], ring::to_string({token, token}));
  EXPECT_EQ(where("another key")["moving"], "no");
  document = *ring::enter_copies(document, move, phase_epoch(), UnixMillis{1});
  document = *ring::fence_move(document, move, phase_epoch());
  EXPECT_EQ(where("k")["moving"], "fenced");
  const ring::Holder holder{.incarnation = {.run_id = "r", .replication_id = "x"}};
  document = *ring::commit_move(document, move, phase_epoch(), holder, UnixMillis{2});
  seen = where("k");
  EXPECT_EQ(seen["moving"], "no");
  EXPECT_EQ(seen["to"], "");
  EXPECT_EQ(seen["owner"], other);
  EXPECT_EQ(seen["epoch"], std::to_string(document.epoch.value()));
}

// A leader of an older version committed it: the range has its owner, only the source is not clean.
TEST_F(Where, AMoveThatIsOnlyCleanedIsOver) {
  const ring::RingSnapshot view = *ring::RingView::build(document);
  const Token token = view->token_of("k");
  const NodeId owner = view->owner(token);
  document = *ring::begin_move(document, {.ranges = {{token, token}},
                                          .source = owner,
                                          .destination = NodeId{3 - owner.value()},
                                          .reason = {},
                                          .now = UnixMillis{1}});
  document.moves.front().phase = ring::Phase::kClean;
  EXPECT_EQ(where("k")["moving"], "no");
  EXPECT_EQ(where("k")["to"], "");
}

TEST_F(Where, TellsNothingOfWhatIsNoKeyOfClients) {
  limits.key_bytes_max = 20;
  EXPECT_EQ(raw("cleave:{owner}"), "-ERR keys beginning with 'cleave:{' are the router's own\r\n");
  EXPECT_EQ(after, After::kRefused);
  EXPECT_EQ(raw(std::string(21, 'k')),
            "-ERR a key of 21 bytes is longer than the 20 that the router takes\r\n");
  EXPECT_EQ(after, After::kRefused);
}

}  // namespace
}  // namespace cleave::proxy
