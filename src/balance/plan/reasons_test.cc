#include "balance/plan/reasons.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace cleave::balance {
namespace {

struct Row {
  std::string name;
  std::string means;
  std::string remedy;

  friend bool operator==(const Row&, const Row&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name << " | " << row.means << " | " << row.remedy;
  }
};

// The rows of the document's table of reasons; links are their texts.
std::vector<Row> documented() {
  std::ifstream file(CLEAVE_SOURCE "/docs/balance.md");
  const std::regex link(R"(\[([^\]]*)\]\([^)]*\))");
  const std::regex row(R"(\| `([^`]*)` \| (.*) \| (.*) \|)");
  std::vector<Row> rows;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) inside = line == "## Why nothing happens";
    line = std::regex_replace(line, link, "$1");
    std::smatch found;
    if (inside && std::regex_match(line, found, row))
      rows.push_back({found[1], found[2], found[3]});
  }
  return rows;
}

TEST(Reasons, StandInTheOrderOfTheirEnumerators) {
  ASSERT_FALSE(reasons().empty());
  for (std::size_t at = 0; at < reasons().size(); ++at) {
    EXPECT_EQ(static_cast<std::size_t>(reasons()[at].why), at);
    EXPECT_EQ(&reason_of(reasons()[at].why), &reasons()[at]);
    EXPECT_EQ(to_string(reasons()[at].why), reasons()[at].name);
  }
  EXPECT_EQ(to_string(Why::kFrozen), "frozen");
  EXPECT_EQ(to_string(Why::kSample), "sample");
}

TEST(Reasons, HaveANameOfTheirOwnAndWords) {
  std::set<std::string_view> names;
  for (const Reason& each : reasons()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    const auto plain = [](char letter) {
      return ('a' <= letter && letter <= 'z') || letter == '-';
    };
    EXPECT_TRUE(!each.name.empty() && std::ranges::all_of(each.name, plain)) << each.name;
    EXPECT_FALSE(each.means.empty()) << each.name;
    EXPECT_FALSE(each.remedy.empty()) << each.name;
  }
}

TEST(Reasons, TheDocumentHasEachRow) {
  std::vector<Row> wanted;
  for (const Reason& each : reasons()) {
    wanted.push_back({std::string(each.name), std::string(each.means), std::string(each.remedy)});
  }
  EXPECT_EQ(documented(), wanted);
}

}  // namespace
}  // namespace cleave::balance
