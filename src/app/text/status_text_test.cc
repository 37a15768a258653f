#include "app/text/status_text.h"

#include <gtest/gtest.h>

#include <sstream>

#include "app/text/plan_text.h"
#include "app/text/table.h"
#include "base/shown.h"

namespace cleave::app {
namespace {

Json node(const std::string& name) {
  return {{"id", 1},
          {"name", name},
          {"state", "active"},
          {"members", {{{"address", "redis-production-7.eu-west-1.example.com:16379"}}}},
          {"share_ppm", 1'000'000},
          {"up", true},
          {"error", ""},
          {"role", "primary"},
          {"keys", 123'456'789},
          {"memory_bytes", 123'456'789'012},
          {"memory_bytes_max", 999'999'999'999},
          {"eviction_policy", "volatile-random"},
          {"version", "7.2.4"},
          {"ping_us", 123'456},
          {"load_ns", 12'345'000'000},
          {"load_ratio_ppm", 12'340'000},
          {"requests_per_s", 1'234'567}};
}

// Everything as long as it gets.
Json worst() {
  const std::string why(200, 'y');
  Json status = {{"pool", "main"},
                 {"epoch", 123'456'789},
                 {"term", 42},
                 {"mode", "auto"},
                 {"frozen", false},
                 {"cuts", 12'345},
                 {"coordinator", "etcd at http://10.0.0.1:2379: the connection was refused twice"},
                 {"nodes", Json::array()},
                 {"routers", Json::array()},
                 {"moves", Json::array()}};
  for (int i = 0; i < 3; ++i) {
    status["nodes"].push_back(node("redis-production-eu-west-1-replica-" + std::to_string(i)));
    status["routers"].push_back({{"session", std::string(32, 'a')},
                                 {"peer", "router-production-7.eu-west-1.example.com:17380"},
                                 {"leader", true},
                                 {"view", 123'456'789},
                                 {"heard_ms", 123'456}});
  }
  status["nodes"][1]["up"] = false;
  status["nodes"][1]["error"] = why;
  status["moves"].push_back({{"id", 123'456},
                             {"source", "redis-production-eu-west-1-replica-0"},
                             {"destination", "redis-production-eu-west-1-replica-1"},
                             {"share_ppm", 31'000},
                             {"step", "rounds"},
                             {"keys_copied", 1'234'567},
                             {"bytes_copied", 1'234'567'890},
                             {"waits_for", "the leader to hear of router " + std::string(32, 'b')},
                             {"reason", why}});
  status["troubles"] = {{{"code", "node-down"},
                         {"node", "b"},
                         {"text", "node b is down: " + why},
                         {"since_ms", 1'700'000'000'000}}};
  status["fits"] = {{"scheme", "twemproxy-ketama"},
                    {"scheme_options", {{"hash", "fnv1a_64"}}},
                    {"hashed", "their addresses"},
                    {"keys", 4'000},
                    {"elsewhere", 3}};
  status["hottest"] = {{"key", std::string(500, 'k')}, {"node", "a"}, {"load_ns", 930'000'000}};
  status["planned"] = Json::array();
  status["planned"].push_back({{"source", "a"},
                               {"destination", "b"},
                               {"keys", 1'200},
                               {"bytes", 1'200'000},
                               {"reason", why}});
  for (int i = 0; i < 9; ++i) {
    Json verdict = {{"why", "unsplittable"}, {"node", "a"}, {"key", std::string(300, 'k')}};
    verdict["text"] = "one key is the load " + why;
    verdict["until_ms"] = 1'700'000'000'000;
    status["why_not"].push_back(verdict);
  }
  status["advice"] = "add 2 nodes: " + why;
  Json cut = {{"first", "0123456789abcdef"}, {"last", "0123456789abcdef"}, {"reason", why}};
  cut["node"] = "redis-production-eu-west-1-replica-0";
  cut["created_ms"] = 1'700'000'000'000;
  cut["pinned_until_ms"] = 1'700'000'000'000;
  status["ring"]["cuts"].push_back(cut);
  return Json::parse(
      status.dump());  // as it arrives: a literal's numbers are signed, a text's are not
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(characters(line), kTerminalWidth) << line;
  }
}

TEST(StatusText, FitsEightyColumnsAlsoAtItsWorst) {
  expect_narrow(status_text(worst()));
  expect_narrow(status_text(worst(), StatusDetail::kServers));
}

TEST(StatusText, TellsWhatIsAskedFor) {
  const std::string text = status_text(worst());
  for (const char* part :
       {"DOWN", "! node b is down", "hottest key: kkkk", "93.0 % of one core",
        "moving 123456:", "planned: a -> b, about 1,200 keys", "unsplittable key kkkk",
        "4 more reasons: cleave plan", "advice: add 2 nodes", "cleave freeze",
        "cleave abort 123456", "leads, term 42", "NOT ok", "123G/999G", "12.34x", "1.2M"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// A command is on one line, to be copied.
TEST(StatusText, TellsWhatIsKeptAndNotMoreThanCanBeRead) {
  Json status = worst();
  for (int move = 17; move < 22; ++move) {
    status["troubles"].push_back(
        {{"code", "leftover-kept"},
         {"node", "a"},
         {"move", move},
         {"text", "node a keeps its copy of move " + std::to_string(move) +
                      ", which went to b: it lost its data. Where b lost keys: `cleave leftovers "
                      "--take-back " +
                      std::to_string(move) + "`. Where b has them all: `cleave leftovers --clean " +
                      std::to_string(move) + "`"},
         {"since_ms", 1'700'000'000'000}});
  }
  const std::string text = status_text(status);
  expect_narrow(text);
  for (const char* part :
       {"! node a keeps its copy of move 17", "`cleave leftovers --take-back 17`",
        "`cleave leftovers --clean 19`", "of 2 more moves"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("move 20"), std::string::npos) << text;
}

TEST(StatusText, WhatIsNotKnownIsNotZero) {
  Json status = worst();
  Json& first = status["nodes"][0];
  for (const char* field : {"keys", "memory_bytes", "load_ns", "load_ratio_ppm", "requests_per_s"})
    first.erase(field);
  first["up"] = false;
  first["error"] = "not asked yet";
  for (const char* field : {"hottest", "planned", "why_not", "advice"}) status.erase(field);
  status["moves"] = Json::array();
  const std::string text = status_text(status);
  for (const char* part : {"unknown", "hottest key: unknown", "nothing moves; the leader knows why",
                           "?: unknown to this router"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  const std::string row = text.substr(text.find("redis-pro"));
  EXPECT_EQ(row.substr(0, row.find('\n')).find(" 0"), std::string::npos) << row;
}

TEST(StatusText, SaysWhenNothingIsToBeDone) {
  Json status = worst();
  status["moves"] = Json::array();
  status["planned"] = Json::array();
  status["why_not"] = Json::array();
  status["advice"] = "";
  status["frozen"] = true;
  const std::string text = status_text(status);
  EXPECT_NE(text.find("nothing moves: no node is hot or full"), std::string::npos) << text;
  EXPECT_NE(text.find("no move begins until `cleave resume`"), std::string::npos) << text;
}

Json decision(const char* kind) {
  return {{"at_ms", 1'700'000'000'000},
          {"kind", kind},
          {"subject", std::string(120, 's')},
          {"reason", std::string(180, 'r')},
          {"predicted", "p"},
          {"real", ""},
          {"until_ms", 0},
          {"alternatives", Json::array()}};
}

TEST(DecisionsText, IsATableAndSentencesOnlyOnRequest) {
  Json moved = decision("moved");
  moved["move"] = 4'711;
  moved["source"] = "redis-production-0";
  moved["destination"] = "redis-production-1";
  moved["ranges"] = {{{"first", "0000000000000010"}, {"last", "0000000000001fff"}}};
  moved["keys"] = 12'345;
  moved["source_load_ns"] = {{"before", 930'000'000}, {"after", 260'000'000}};
  moved["destination_load_ns"] = {{"before", 20'000'000}, {"after", 250'000'000}};
  const Json decisions = {moved, decision("nothing")};
  const std::string table = decisions_text(decisions, Sentences::kNo);
  expect_narrow(table);
  EXPECT_NE(table.find("11-14 22:13  moved 4711"), std::string::npos) << table;
  EXPECT_NE(table.find("12.3k"), std::string::npos) << table;
  EXPECT_NE(table.find("  93>26"), std::string::npos) << table;
  EXPECT_NE(table.find("  2>25"), std::string::npos) << table;
  const std::string told = decisions_text(decisions, Sentences::kYes);
  expect_narrow(told);
  EXPECT_NE(told.find("range 0000000000000010-0000000000001fff"), std::string::npos) << told;
  EXPECT_NE(told.find("expected: p"), std::string::npos) << told;
}

}  // namespace
}  // namespace cleave::app
