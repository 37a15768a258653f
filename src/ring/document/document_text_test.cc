// The text form: canonical, readable for ever, and safe to read from anywhere.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/damage_testing.h"
#include "ring/document/document.h"
#include "ring/edits/ring_testing.h"

namespace cleave::ring {
namespace {

using Json = nlohmann::ordered_json;
using testing::edited_document;
using testing::golden;
using testing::RandomEdits;

TokenRange tokens(std::uint64_t first, std::uint64_t last) { return {Token{first}, Token{last}}; }

Document example() {
  Document document;
  document.epoch = Epoch{42};
  document.pool = "main";
  document.mark = "5f0c9a1e";
  document.nodes = {
      {NodeId{1}, "a", 1, NodeState::kActive, {{"127.0.0.1:7001", "r1"}, {"127.0.0.1:7101", "r2"}}},
      {NodeId{2}, "b", 2, NodeState::kActive, {{"127.0.0.1:7002", ""}}},
      {NodeId{4}, "d", 1, NodeState::kDraining, {{"[::1]:7004", ""}}}};
  document.next_node = NodeId{5};
  document.cuts = {
      {tokens(0, 0x0FFF), NodeId{4}, "kept while node 'd' drains", UnixMillis{1'000}, {}},
      {tokens(0x00C0FFEE00000000U, 0x00C0FFEEFFFFFFFFU), NodeId{2}, "hot: 31 % of node 'a'",
       UnixMillis{1'760'000'000'000}, UnixMillis{1'760'003'600'000}}};
  document.moves = {{MoveId{40},
                     {tokens(0x8000000000000000U, 0x8FFFFFFFFFFFFFFFU),
                      tokens(0xFFFFFFFFFFFFFFF0U, 0xFFFFFFFFFFFFFFFFU)},
                     NodeId{1},
                     NodeId{2},
                     Phase::kFenced,
                     Epoch{41},
                     "hot: 12 % of node 'a'",
                     UnixMillis{1'760'000'000'500}}};
  document.leader = {SessionId{"router-1.77"}, Term{3}};
  document.routers = {{.session = SessionId{"router-1.77"},
                       .peer = "10.0.0.1:7380",
                       .reader = 2,
                       .peer_version = 1},
                      {.session = SessionId{"router-2.12"},
                       .peer = "10.0.0.2:7380",
                       .reader = 3,
                       .peer_version = 2}};
  document.mode = Mode::kApprove;
  document.frozen = true;
  return document;
}

// The example of docs/formats/ring-document.md.
Document expecting_example() {
  Document document = example();
  document.routers[0].reader = 3;
  document.expected = {
      {.name = "black-friday",
       .lead_from = UnixMillis{1'760'010'000'000},
       .start = UnixMillis{1'760'013'600'000},
       .end = UnixMillis{1'760'020'800'000},
       .loads = {{tokens(0x1111000000000000U, 0x1111000000000000U), 250'000'000},
                 {tokens(0x2000000000000000U, 0x2fffffffffffffffU), 900'000'000}}}};
  return document;
}

// It knew a router by its session only, and is written no more.
TEST(DocumentText, FormatOneStaysReadable) {
  Document expected = example();
  for (Router& router : expected.routers)
    router = {.session = router.session, .reader = 1, .peer_version = 0};
  const auto document = parse_document(testing::read_file(CLEAVE_TESTDATA "/document_v1.json"));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(*document, expected);
}

// The golden file holds the document, byte for byte.
void expect_frozen(const Document& document, const std::string& file) {
  const std::string text = golden(CLEAVE_TESTDATA "/" + file, to_text(document) + "\n");
  const auto read = parse_document(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, document);
  EXPECT_EQ(to_text(*read) + "\n", text);
}

TEST(DocumentText, FormatTwoIsFrozen) { expect_frozen(example(), "document_v2.json"); }

TEST(DocumentText, FormatThreeIsFrozen) { expect_frozen(expecting_example(), "document_v3.json"); }

// The first example of docs/formats/ring-document.md as another proxy's pool.
Document adopted_example() {
  Document document = expecting_example();
  document.scheme = {.name = "twemproxy-ketama",
                     .options = {{"hash", "fnv1a_64"}, {"hash_tag", "{}"}}};
  document.nodes[0].hash_key = "127.0.0.1:7001";
  for (Router& router : document.routers) router.reader = 4;
  return document;
}

TEST(DocumentText, FormatFourIsFrozen) { expect_frozen(adopted_example(), "document_v4.json"); }

// Copies of an aborted move, and of a committed one whose destination lost its data; the latter are
// being taken back.
Document leftovers_example() {
  Document document = example();
  for (Router& router : document.routers) router.reader = 5;
  document.moves.push_back({.id = MoveId{42},
                            .ranges = {tokens(0x100, 0x1FF)},
                            .source = NodeId{2},
                            .destination = NodeId{1},
                            .phase = Phase::kFenced,
                            .phase_epoch = Epoch{42},
                            .reason = "taken back",
                            .started = UnixMillis{1'760'000'000'900},
                            .takes_back = MoveId{23}});
  document.leftovers = {{.move = MoveId{17},
                         .node = NodeId{4},
                         .ranges = {tokens(0x5000000000000000U, 0x5FFFFFFFFFFFFFFFU)},
                         .since = UnixMillis{1'760'000'000'100},
                         .server = "77ab4c"},
                        {.move = MoveId{23},
                         .node = NodeId{1},
                         .ranges = {tokens(0x100, 0x1FF)},
                         .since = UnixMillis{1'760'000'000'200},
                         .holder = NodeId{2},
                         .incarnation = {.run_id = "6c4e", .replication_id = "91f0"},
                         .offset = 4'711,
                         .state = LeftoverState::kKept,
                         .server = "0b1e55",
                         .why = "the server that the move went to lost its data"}};
  document.nodes[0].strays = 2'006;
  document.nodes[2].drain_held = true;
  document.flatten = true;
  return document;
}

TEST(DocumentText, FormatFiveIsFrozen) {
  expect_frozen(leftovers_example(), "document_v5.json");
  Document plain = example();
  for (Router& router : plain.routers) router.reader = 5;
  EXPECT_EQ(Json::parse(to_text(plain))["min_reader"], 5) << "no older router may join";
  plain.old_readers = true;
  EXPECT_EQ(Json::parse(to_text(plain))["min_reader"], 2);
  EXPECT_EQ(parse_document(to_text(plain)).value_or(Document{}), plain);
}

// Whoever does not know the scheme would place keys as vnode does.
TEST(DocumentText, OtherSchemesAndHashKeysNeedTheirReader) {
  EXPECT_EQ(Json::parse(to_text(adopted_example()))["min_reader"], 4);
  Document keyed = example();
  keyed.nodes[1].hash_key = "b.example";
  for (Router& router : keyed.routers) router.reader = 4;
  EXPECT_EQ(Json::parse(to_text(keyed))["min_reader"], 4);
  keyed.routers[0].reader = 3;
  const auto valid = validate(keyed);
  ASSERT_FALSE(valid);
  EXPECT_NE(valid.error().message.find("other scheme than vnode"), std::string::npos);
}

// Older routers may pass over them.
TEST(DocumentText, WhatAPersonSaidNeedsNoNewerReader) {
  for (const char* name : {"strays", "drain_held", "flatten"})
    EXPECT_FALSE(to_text(example()).contains(name)) << name;
  Document document = example();
  document.nodes[1].strays = 2'006;
  document.nodes[2].drain_held = true;
  document.flatten = true;
  EXPECT_EQ(Json::parse(to_text(document))["min_reader"], 2);
  const auto read = parse_document(to_text(document));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, document);
}

// An older router may join a pool that expects nothing, and must not one that does: it would write
// the document without what is expected.
TEST(DocumentText, OnlyWhatIsExpectedNeedsANewerReader) {
  EXPECT_EQ(Json::parse(to_text(example()))["min_reader"], 2);
  EXPECT_FALSE(Json::parse(to_text(example())).contains("expected"));
  EXPECT_EQ(Json::parse(to_text(expecting_example()))["min_reader"], 3);
}

TEST(DocumentText, TheManualShowsTheExample) {
  const std::string manual = testing::read_file(CLEAVE_SOURCE "/docs/formats/ring-document.md");
  const std::size_t start = manual.find("```json\n");
  ASSERT_NE(start, std::string::npos);
  const std::size_t end = manual.find("```\n", start + 8);
  const auto document = parse_document(std::string_view(manual).substr(start + 8, end - start - 8));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(*document, expecting_example());
}

TEST(DocumentText, RoundTrips) {
  for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomEdits edits(seed);
    const Document document = edited_document(edits, 12);
    const std::string text = to_text(document);
    const auto again = parse_document(text);
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(*again, document);
    ASSERT_EQ(to_text(*again), text);
  }
}

TEST(DocumentText, ReasonsMayQuoteAnyBytes) {
  Document document = example();
  document.cuts[0].reason = "key '\xFF\x00 \"'";
  const auto again = parse_document(to_text(document));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NE(again->cuts[0].reason.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(DocumentText, IgnoresFieldsOfANewerWriter) {
  Json json = Json::parse(to_text(example()));
  json["format"] = 7;
  json["weather"] = {{"sun", true}};
  json["nodes"][0]["colour"] = "red";
  const auto document = parse_document(json.dump(2));
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(*document, example());
}

TEST(DocumentText, RefusesWhatOnlyANewerReaderUnderstands) {
  Json json = Json::parse(to_text(example()));
  json["min_reader"] = kTextReader + 1;
  json.erase("cuts");  // the version is judged first: it explains everything else
  const auto document = parse_document(json.dump());
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().code, Code::kInvalid);
  EXPECT_NE(document.error().message.find("upgrade"), std::string::npos);
}

struct Spoilt {
  const char* pointer;  // JSON pointer of the value
  Json value;
  const char* says;
};

TEST(DocumentText, NamesThePlaceOfAMistake) {
  const std::vector<Spoilt> cases = {
      {"/format", 0, "format"},
      {"/epoch", "42", "epoch: want an integer"},
      {"/epoch", -1, "epoch: want an integer"},
      {"/epoch", 1.5, "epoch: want an integer"},
      {"/epoch", 9007199254740992U, "epoch: want an integer"},
      {"/pool", 1, "pool: want a string"},
      {"/nodes", Json::object(), "nodes: want a list"},
      {"/nodes/0", 1, "nodes[0]: want an object"},
      {"/nodes/1/name", nullptr, "nodes[1].name"},
      {"/nodes/1/state", "asleep", "nodes[1].state: want a known one; node state"},
      {"/nodes/0/members/1/address", 5, "nodes[0].members[1].address"},
      {"/nodes/0/id", 4294967296U, "nodes[0].id"},
      {"/cuts/1/range/0", 5, "cuts[1].range:"},
      {"/cuts/1/range/0", "ffffffffffffffff", "cuts[1].range:"},
      {"/cuts/1/range", {"0"}, "cuts[1].range:"},
      {"/cuts/1/created", -1, "cuts[1].created"},
      {"/moves/0/ranges/1", "all", "moves[0].ranges[1]:"},
      {"/moves/0/phase", "done", "moves[0].phase"},
      {"/leader", {1}, "leader: want an object"},
      {"/routers/0", 1, "routers[0]: want an object"},
      {"/routers/0/peer", 1, "routers[0].peer: want a string"},
      {"/routers/1/reader", "2", "routers[1].reader: want an integer"},
      {"/expected", 1, "expected: want a list"},
      {"/expected/0/name", 1, "expected[0].name: want a string"},
      {"/expected/0/end", "soon", "expected[0].end: want an integer"},
      {"/expected/0/loads/1/range", "all", "expected[0].loads[1].range:"},
      {"/expected/0/loads/1/load", -1, "expected[0].loads[1].load: want an integer"},
      {"/mode", "manual", "mode"},
      {"/frozen", 0, "frozen: want true or false"},
      {"/cuts/0/node", 3, "which is unknown"},
      {"/leftovers", 1, "leftovers: want a list"},
      {"/leftovers/0/node", 3, "which is unknown"},
      {"/leftovers/0/move", 99, "not from 1 to epoch"},
      {"/leftovers/0/state", "begun", "without a holder"},
      {"/leftovers/0/server", 7, "leftovers[0].server: want a string"},
      {"/leftovers/1/state", "lost", "leftovers[1].state"},
      {"/leftovers/1/move", 17, "is not sorted"},
      {"/leftovers/1/holder", 1, "is its own holder"},
      {"/leftovers/1/run_id", "", "incarnation"},
      {"/leftovers/1/offset", -1, "leftovers[1].offset: want an integer"},
      {"/leftovers/1/ranges", Json::array(), "has no range"},
      {"/old_readers", 1, "old_readers: want true or false"},
      {"/flatten", 1, "flatten: want true or false"},
      {"/nodes/0/drain_held", true, "holds a drain and does not drain"},
      {"/nodes/0/strays", -1, "nodes[0].strays: want an integer"},
  };
  for (const Spoilt& spoilt : cases) {
    Document document_of = expecting_example();
    document_of.leftovers = leftovers_example().leftovers;
    for (Router& router : document_of.routers) router.reader = 5;
    Json json = Json::parse(to_text(document_of));
    json[Json::json_pointer(spoilt.pointer)] = spoilt.value;
    const auto document = parse_document(json.dump());
    ASSERT_FALSE(document) << spoilt.pointer;
    EXPECT_EQ(document.error().code, Code::kInvalid);
    EXPECT_NE(document.error().message.find(spoilt.says), std::string::npos)
        << document.error().message << "\nshould say: " << spoilt.says;
  }
}

TEST(DocumentText, EveryFieldIsNeeded) {
  const Json whole = Json::parse(to_text(example()));
  for (const auto& [name, value] : whole.items()) {
    Json json = whole;
    json.erase(name);
    const auto document = parse_document(json.dump());
    ASSERT_FALSE(document) << name;
    EXPECT_NE(document.error().message.find(name + ": want a value, it is missing"),
              std::string::npos);
  }
}

TEST(DocumentText, RefusesWhatIsNoJson) {
  const std::string text = to_text(example());
  for (std::size_t length = 0; length < text.size(); ++length) {
    ASSERT_FALSE(parse_document(std::string_view(text).substr(0, length))) << length;
  }
  EXPECT_FALSE(parse_document("[]"));
  EXPECT_FALSE(parse_document("null"));
  EXPECT_FALSE(parse_document(text + text));
  EXPECT_FALSE(parse_document(std::string(1'000'000, '[')));
}

// Garbage is an error or a valid document, never a crash, whatever bytes a disk or a peer returns.
TEST(DocumentText, SurvivesSpoiltBytes) {
  const std::vector<std::string> goods = {to_text(example()), to_text(expecting_example()),
                                          to_text(adopted_example()), to_text(leftovers_example())};
  std::size_t taken = 0;
  for (std::uint64_t seed = 0; seed < 9'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const std::string_view good = goods.at(seed % goods.size());
    const auto document = parse_document(damaged(good, goods.at(rng.below(goods.size())), rng));
    if (!document) {
      ASSERT_FALSE(document.error().message.empty());
      continue;
    }
    ++taken;
    ASSERT_TRUE(validate(*document));
    const auto again = parse_document(to_text(*document));
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_EQ(*again, *document);
  }
  EXPECT_GT(taken, 100U);  // else the spoiling is so coarse that nothing beyond the syntax is tried
}

}  // namespace
}  // namespace cleave::ring
