// What a survey means; tests/integration/strays_test.py tries the walk itself on real servers.
#include "control/strays/surveyor.h"

#include <gtest/gtest.h>

#include "ring/edits/ring_testing.h"

namespace cleave::control {
namespace {

const std::vector<NodeId> kBoth = {NodeId{1}, NodeId{2}};

// Two servers of 1,000 keys, of which the first holds so many strays.
Survey survey_of(std::uint64_t strays) {
  Survey survey;
  for (const NodeId id : kBoth) {
    SurveyedNode node;
    node.facts.node = id;
    node.facts.reachable = true;
    node.facts.strays = {.known = true,
                         .count = {.keys = 1'000, .strays = 0, .whole = true, .examples = {}}};
    survey.nodes.push_back(node);
  }
  StrayCount& count = survey.nodes[0].facts.strays.count;
  count.strays = strays;
  if (strays > 0) count.examples = {{.key = "user:1", .owner = NodeId{2}}};
  return survey;
}

class Adoption : public testing::Test {
 protected:
  std::string refusal(const Survey& survey, const std::vector<NodeId>& nodes = kBoth) {
    const Result<void> may = check_adoption(survey, nodes, document_);
    return may ? "" : may.error().message;
  }

  ring::Document document_ = ring::testing::make_document({1, 1});
};

TEST_F(Adoption, IsRefusedWhereTheRingDoesNotFindTheKeys) {
  EXPECT_EQ(refusal(survey_of(0)), "");
  EXPECT_EQ(refusal(survey_of(1)), "");  // a thousandth
  const std::string why = refusal(survey_of(700));
  EXPECT_TRUE(
      why.starts_with("node a: 700 of 1,000 keys (70.00 %) are not where this ring looks, "
                      "e.g. \"user:1\", which it looks for at b"))
      << why;
  EXPECT_TRUE(why.contains("--force")) << why;
}

TEST_F(Adoption, NamesTheSchemeThatFits) {
  Survey survey = survey_of(700);
  survey.fits = ring::SchemeFit{.scheme = {.name = "modulo", .options = {{"hash", "crc32"}}},
                                .hashed = "their names",
                                .keys = 2'000,
                                .elsewhere = 0};
  EXPECT_TRUE(refusal(survey).contains(
      "the scheme modulo with hash crc32, of their names finds all but 0 of 2000 of them"));
}

TEST_F(Adoption, JudgesOnlyServersThatAreToBeMarked) {
  Survey survey = survey_of(700);
  EXPECT_EQ(refusal(survey, {NodeId{2}}), "");
  survey.nodes[0].facts.marked = true;
  EXPECT_EQ(refusal(survey), "");
}

TEST_F(Adoption, IsRefusedForKeysThatNoClientReaches) {
  Survey survey = survey_of(0);
  survey.nodes[1].facts.databases = {{.number = 3, .keys = 12}};
  EXPECT_TRUE(refusal(survey).contains(
      "node b: keys that no client reaches through a router, in database 3 (12 keys)"))
      << refusal(survey);
}

TEST_F(Adoption, IsRefusedWhereNobodyCouldLook) {
  Survey survey = survey_of(0);
  survey.nodes[1].look_error = "SCAN was refused: NOPERM";
  EXPECT_EQ(check_adoption(survey, kBoth, document_).error().code, Code::kUnavailable);
  EXPECT_TRUE(refusal(survey).contains("SCAN was refused: NOPERM"));
}

TEST(Survey, TriesNamesAddressesAndHostsWhereTheyTellNodesApart) {
  ring::Document document = ring::testing::make_document({1, 1});
  EXPECT_EQ(names_of_nodes(document).size(), 3U);
  EXPECT_EQ(names_of_nodes(document)[1].nodes[0].name, "a.example:7000");
  document.nodes[0].members[0].address = "10.0.0.1:1";
  document.nodes[1].members[0].address = "10.0.0.1:2";
  EXPECT_EQ(names_of_nodes(document).size(), 2U);
}

}  // namespace
}  // namespace cleave::control
