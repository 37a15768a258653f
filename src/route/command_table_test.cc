#include "route/command_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "base/rng.h"
#include "route/testdata_test.h"

namespace cleave::route {
namespace {

using Positions = std::vector<std::uint32_t>;

Result<Positions> keys_of(const CommandTable& table, std::string_view line) {
  const std::vector<std::string_view> args = words(line);
  const CommandSpec* const spec = table.find(args);
  if (spec == nullptr) return fail(Code::kNotFound, "no such command");
  Positions positions;
  const auto found = find_keys(*spec, args, positions);
  if (!found) return std::unexpected(found.error());
  return positions;
}

Positions positions_of(std::string_view text) {
  Positions positions;
  for (const std::string_view word : words(text)) {
    positions.push_back(static_cast<std::uint32_t>(std::stoul(std::string(word))));
  }
  return positions;
}

// Every line of the golden file: ours are the server's keys; where the server finds none or calls
// it an error, we find none either.
void expect_golden_keys(const CommandTable& table, bool subcommands) {
  std::ifstream file(CLEAVE_TESTDATA "/getkeys.golden");
  std::size_t cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t arrow = line.find(" =>");
    const std::string command = line.substr(0, arrow);
    const std::string server = line.substr(std::min(arrow + 4, line.size()));
    if (!subcommands && table.find(words(command)[0])->keys_unknown) continue;
    ++cases;
    const auto ours = keys_of(table, command);
    if (server.empty() || server.starts_with("ERR")) {
      EXPECT_TRUE(!ours || ours->empty()) << command;
    } else {
      ASSERT_TRUE(ours.has_value()) << command << ": " << ours.error().message;
      EXPECT_EQ(*ours, positions_of(server)) << command;
    }
  }
  EXPECT_GE(cases, 65U);
}

TEST(CommandTable, NumbersEachCommandAndSubcommandOnce) {
  const CommandTable table = table_of(recorded_reply());
  std::vector<bool> seen(table.ordinals());
  const auto see = [&](const CommandSpec& spec) {
    ASSERT_LT(spec.ordinal, seen.size());
    EXPECT_FALSE(seen[spec.ordinal]) << spec.name;
    seen[spec.ordinal] = true;
  };
  for (const CommandSpec& spec : table.commands()) {
    see(spec);
    for (const CommandSpec& sub : spec.subcommands) see(sub);
  }
  EXPECT_EQ(std::ranges::count(seen, true), table.ordinals());
}

TEST(CommandTable, FindsTheKeysThatTheServerFinds) {
  expect_golden_keys(table_of(recorded_reply()), true);
}

TEST(CommandTable, FindsThemInAnOlderTableToo) { expect_golden_keys(table_of(old_reply()), false); }

TEST(CommandTable, KnowsEveryCommandInAnyCase) {
  const CommandTable table = table_of(recorded_reply());
  EXPECT_EQ(table.size(), 240U);
  for (const CommandSpec& spec : table.commands()) {
    std::string name = spec.name;
    EXPECT_EQ(table.find(name), &spec);
    for (std::size_t i = 0; i < name.size(); i += 2) {
      if (name[i] >= 'a' && name[i] <= 'z') name[i] = static_cast<char>(name[i] - 32);
    }
    EXPECT_EQ(table.find(name), &spec) << name;
  }
  EXPECT_EQ(table.find("gett"), nullptr);
  EXPECT_EQ(table.find(""), nullptr);
  EXPECT_EQ(table.find(std::string(65, 'g')), nullptr);
  EXPECT_EQ(table.find(std::string_view("get\0", 4)), nullptr);
}

TEST(CommandTable, FindsSubcommandsElseTheirContainer) {
  const CommandTable table = table_of(recorded_reply());
  EXPECT_EQ(table.find(words("XGROUP create a g $"))->name, "xgroup|create");
  EXPECT_EQ(table.find(words("xgroup nonsense"))->name, "xgroup");
  EXPECT_EQ(table.find(words("xgroup"))->name, "xgroup");
  EXPECT_EQ(table.find(words("get create"))->name, "get");
}

TEST(CommandTable, KnowsWhatWrites) {
  for (const CommandTable& table : {table_of(recorded_reply()), table_of(old_reply())}) {
    for (const char* name :
         {"set",     "del",        "getex", "getdel",  "expire", "persist", "setrange",
          "pfcount", "pfadd",      "eval",  "evalsha", "fcall",  "sort",    "flushall",
          "restore", "xreadgroup", "copy",  "rename",  "lmove",  "blpop",   "bitfield"}) {
      EXPECT_TRUE(table.find(name)->writes) << name;
    }
    for (const char* name : {"get", "mget", "exists", "touch", "ttl", "dump", "sort_ro", "eval_ro",
                             "evalsha_ro", "fcall_ro", "hscan", "xread", "dbsize", "bitfield_ro"}) {
      EXPECT_FALSE(table.find(name)->writes) << name;
    }
  }
  const CommandTable table = table_of(recorded_reply());
  EXPECT_TRUE(table.find(words("xgroup create a g $"))->writes);
  EXPECT_FALSE(table.find(words("object freq a"))->writes);
}

// The server takes the last of a repeated option; a key that we did not see would be written on
// the wrong server.
TEST(FindKeys, TakesEveryKeyOfARepeatedOption) {
  const CommandTable table = table_of(recorded_reply());
  EXPECT_EQ(keys_of(table, "georadius a 1 2 3 m STORE b STORE c"), (Positions{1, 7, 9}));
  EXPECT_EQ(keys_of(table, "georadius a 1 2 3 m STORE store STOREDIST c"), (Positions{1, 7, 9}));
  EXPECT_EQ(keys_of(table, "sort a STORE b STORE c"), (Positions{1, 5}));
}

TEST(FindKeys, DoesNotTakeNamesForKeywords) {
  const CommandTable table = table_of(recorded_reply());
  EXPECT_EQ(keys_of(table, "xreadgroup COUNT 1 GROUP streams streams STREAMS streams >"),
            (Positions{7}));
  EXPECT_EQ(keys_of(table, "sort by STORE store"), (Positions{1, 3}));
}

TEST(FindKeys, SaysWhyKeysCannotBeFound) {
  const CommandTable table = table_of(recorded_reply());
  struct Case {
    std::string_view line;
    Code code;
    std::string_view message;
  };
  for (const Case& test : std::vector<Case>{
           {"eval s x a", Code::kInvalid, "value is not an integer or out of range"},
           {"eval s -1 a", Code::kInvalid, "Number of keys can't be negative"},
           {"eval s 2 a", Code::kInvalid, "Number of keys can't be greater than number of args"},
           {"eval s 9223372036854775807 a", Code::kInvalid,
            "Number of keys can't be greater than number of args"},
           {"xread STREAMS a b 0", Code::kInvalid, "syntax error"},
           {"xread COUNT 1 a b", Code::kInvalid, "syntax error"},
           {"sort a LIMIT 1", Code::kInvalid, "syntax error"},
           {"sort a BY w_*", Code::kNotFound,
            "BY and GET patterns read keys that may be on other servers"},
           {"sort_ro a GET # GET o_*->f", Code::kNotFound,
            "BY and GET patterns read keys that may be on other servers"},
           {"migrate h p a 0 9", Code::kNotFound, "its keys cannot be known"},
       }) {
    const auto keys = keys_of(table, test.line);
    ASSERT_FALSE(keys.has_value()) << test.line;
    EXPECT_EQ(keys.error(), (Error{test.code, std::string(test.message)})) << test.line;
  }
}

// The value behind a name in flattened maps, wherever it stands; nullptr: nowhere.
wire::Reply* value_of(wire::Reply& reply, std::string_view name) {
  for (std::size_t i = 0; i < reply.elements.size(); ++i) {
    if (i > 0 && reply.elements[i - 1].text == name) return &reply.elements[i];
    if (wire::Reply* found = value_of(reply.elements[i], name); found != nullptr) return found;
  }
  return nullptr;
}

// A server may say anything of where the number of keys stands.
TEST(FindKeys, ReadsNoNumberOfKeysInFrontOfTheArguments) {
  for (const std::int64_t place : {-2, -3, -1'000'000'000}) {
    wire::Reply reply = recorded_reply();
    for (wire::Reply& command : reply.elements) {
      if (command.elements[0].text != "eval") continue;
      wire::Reply* const index = value_of(command, "keynumidx");
      ASSERT_NE(index, nullptr);
      index->integer = place;
    }
    const auto keys = keys_of(table_of(reply), "eval 1 1 a");
    ASSERT_FALSE(keys.has_value()) << place;
    EXPECT_EQ(keys.error(), (Error{Code::kInvalid, "syntax error"})) << place;
  }
}

TEST(CommandTable, RefusesWhatIsNoCommandReply) {
  using wire::parse_reply;
  for (const char* raw : {"-ERR unknown command\r\n", "*0\r\n", "$-1\r\n", "*1\r\n:1\r\n",
                          "*1\r\n*0\r\n", "*1\r\n*6\r\n$0\r\n\r\n:1\r\n*0\r\n:0\r\n:0\r\n:0\r\n",
                          "*1\r\n*6\r\n$1\r\na\r\n+1\r\n*0\r\n:0\r\n:0\r\n:0\r\n",
                          "*1\r\n*6\r\n$1\r\na\r\n:1\r\n:0\r\n:0\r\n:0\r\n:0\r\n",
                          "*2\r\n*6\r\n$1\r\na\r\n:1\r\n*0\r\n:0\r\n:0\r\n:0\r\n"
                          "*6\r\n$1\r\nA\r\n:1\r\n*0\r\n:0\r\n:0\r\n:0\r\n"}) {
    const auto table = CommandTable::parse(*parse_reply(raw));
    ASSERT_FALSE(table.has_value()) << raw;
    EXPECT_EQ(table.error().code, Code::kInvalid) << raw;
  }
}

// A broken server must not break the router: any mutation of the tree is a table or an error, and
// finding keys by it ends and stays inside the arguments.
void mutate(wire::Reply& reply, Rng& rng) {
  wire::Reply* at = &reply;
  while (!at->elements.empty() && !rng.chance(1, 6)) {
    at = &at->elements[rng.below(at->elements.size())];
  }
  switch (rng.below(4)) {
    case 0: at->type = static_cast<wire::Reply::Type>(rng.below(6)); break;
    case 1: at->integer = static_cast<std::int64_t>(rng.next() >> rng.below(64)); break;
    case 2: at->integer = -static_cast<std::int64_t>(rng.below(4)); break;
    default: at->elements.resize(at->elements.size() / 2);
  }
}

TEST(CommandTableProperty, SurvivesABrokenReply) {
  const wire::Reply good = recorded_reply();
  for (std::uint64_t seed = 1; seed <= 1'000; ++seed) {
    Rng rng(seed);
    wire::Reply bad;
    bad.type = wire::Reply::Type::kArray;
    for (int i = 0; i < 8; ++i) bad.elements.push_back(good.elements[rng.below(240)]);
    for (int i = 0; i < 8; ++i) mutate(bad, rng);
    const auto table = CommandTable::parse(bad);
    if (!table) continue;
    const std::vector<std::string_view> args = words("x 2 a b 1 STORE c STREAMS d 0");
    for (const CommandSpec& spec : table->commands()) {
      Positions positions;
      if (!find_keys(spec, args, positions)) continue;
      for (const std::uint32_t position : positions) {
        ASSERT_GE(position, 1U) << "seed " << seed;
        ASSERT_LT(position, args.size()) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace cleave::route
