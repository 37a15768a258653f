#include "admin/metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "admin/api_testing.h"

namespace cleave::admin {
namespace {

std::string metrics_text() {
  RecordingOperator order_taker;
  order_taker.state.plan =
      std::make_shared<const balance::Plan>(balance::Plan{.advice = "add", .advice_nodes = 2});
  RecordingRouter router;
  std::string text;
  router.stats([&](const proxy::RouterStats& stats) {
    const control::Status status = order_taker.status();
    const std::vector<proxy::NodeHealth> health = router.health();
    text = render_metrics({.status = status, .health = health, .router = stats});
  });
  return text;
}

TEST(Metrics, EveryLineHasTheFormsOfTheFormat) {
  const std::regex comment("# (HELP|TYPE) [a-z_]+ .+");
  const std::regex sample(R"re([a-z_]+(\{[a-z]+="[^"]*"\})? [0-9]+(\.[0-9]+)?)re");
  std::istringstream lines(metrics_text());
  std::set<std::string> families;
  int samples = 0;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(std::regex_match(line, comment) || std::regex_match(line, sample)) << line;
    if (line.starts_with("# TYPE ")) {
      const std::string name = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(name).second) << name << " is declared twice";
    } else if (!line.starts_with('#')) {
      ++samples;
    }
  }
  EXPECT_GE(samples, 20);
}

TEST(Metrics, CarriesTheValues) {
  const std::string text = metrics_text();
  for (const char* line :
       {"cleave_requests_total 42\n", "cleave_node_up{node=\"a\"} 1\n",
        "cleave_node_up{node=\"b\"} 0\n", "cleave_epoch 1\n", "cleave_leader 1\n",
        "cleave_advice_nodes 2\n", "cleave_expected_events 0\n", "cleave_moves 0\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

// Steps of the fake router: 3 below 1 ms, 1 below 2 ms, 2 from 4 to 5 ms, 1 beyond.
TEST(Metrics, HistogramIsCumulativeAndEndsInInfinity) {
  const std::string text = metrics_text();
  for (const char* line :
       {"_bucket{le=\"0.001\"} 3\n", "_bucket{le=\"0.002\"} 4\n", "_bucket{le=\"0.005\"} 6\n",
        "_bucket{le=\"0.200\"} 6\n", "_bucket{le=\"+Inf\"} 7\n", "_count 7\n"}) {
    EXPECT_NE(text.find(std::string("cleave_fence_hold_seconds") + line), std::string::npos)
        << line << text;
  }
}

TEST(Metrics, LabelsAreEscaped) { EXPECT_EQ(escape_label("a\\b\"c\nd"), "a\\\\b\\\"c\\nd"); }

}  // namespace
}  // namespace cleave::admin
