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
  order_taker.state.plan = std::make_shared<const balance::Plan>(
      balance::Plan{.verdicts = {{.why = balance::Why::kNoTarget, .node = NodeId{1}}},
                    .advice = "add",
                    .advice_nodes = 2});
  order_taker.state.totals = {.committed = 3, .aborted = 1, .keys = 700, .bytes = 90'000};
  control::NodeFacts facts;
  facts.node = NodeId{1};
  facts.reachable = true;
  facts.marked = true;
  facts.keys = 5;
  facts.memory_bytes = 2'000;
  facts.memory_bytes_max = 4'000;
  order_taker.state.nodes.push_back(facts);
  facts.node = NodeId{2};
  facts.reachable = false;
  order_taker.state.nodes.push_back(facts);
  heat::Picture picture;
  picture.observed = seconds{5};
  picture.nodes = {{.node = NodeId{1}, .load = {.mean = 300}, .requests = 30},
                   {.node = NodeId{2}, .load = {.mean = 100}, .requests = 10}};
  order_taker.state.heat = std::make_shared<const heat::Picture>(picture);
  ring::Document document = order_taker.state.view->document();
  const NodeId other{order_taker.state.view->owner(Token{1}) == NodeId{1} ? 2U : 1U};
  document.leftovers = {
      {.move = MoveId{1}, .node = other, .ranges = {{Token{1}, Token{1}}}, .since = {}}};
  document.leftovers[0].state = ring::LeftoverState::kKept;
  order_taker.state.view = *ring::RingView::build(document);
  RecordingRouter router;
  std::string text;
  router.stats([&](proxy::RouterStats stats) {
    proxy::NodeTraffic traffic{.node = NodeId{1}, .sent = 4, .replies = 3};
    traffic.errors[static_cast<std::size_t>(proxy::ErrorCause::kOom)] = 2;
    traffic.queued = microseconds{1'500};
    traffic.served = seconds{2};
    stats.nodes = {traffic};
    const control::Status status = order_taker.status();
    const std::vector<proxy::NodeHealth> health = router.health();
    const Seen seen{.status = status, .health = health, .router = stats};
    router.book.look(observe(seen, router.book), UnixMillis{1});
    text = render_metrics({.status = status,
                           .health = health,
                           .router = stats,
                           .states = &router.book,
                           .process = router.usage()});
  });
  return text;
}

TEST(Metrics, ErrorsAndTimesOfANodeAreSplit) {
  const std::string text = metrics_text();
  for (const char* line : {"cleave_node_errors_total{node=\"a\",cause=\"oom\"} 2",
                           "cleave_node_errors_total{node=\"a\",cause=\"timeout\"} 0",
                           "cleave_node_queue_seconds_sum{node=\"a\"} 0.001500",
                           "cleave_node_queue_seconds_count{node=\"a\"} 4",
                           "cleave_node_server_seconds_sum{node=\"a\"} 2.000000",
                           "cleave_node_server_seconds_count{node=\"a\"} 3"}) {
    EXPECT_NE(text.find(std::string(line) + "\n"), std::string::npos) << line;
  }
}

TEST(Metrics, EveryLineHasTheFormsOfTheFormat) {
  const std::regex comment("# (HELP|TYPE) [a-z_]+ .+");
  const std::regex sample(
      R"re([a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9]+(\.[0-9]+)?)re");
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
  for (const char* line : {"cleave_requests_total 42\n",
                           "cleave_node_up{node=\"a\"} 1\n",
                           "cleave_node_up{node=\"b\"} 0\n",
                           "cleave_epoch 1\n",
                           "cleave_leader 1\n",
                           "cleave_advice_nodes 2\n",
                           "cleave_expected_events 0\n",
                           "cleave_moves 0\n",
                           "cleave_leftovers{state=\"kept\"} 1\n",
                           "cleave_leftovers{state=\"open\"} 0\n",
                           "cleave_build_info{version=\"1.2.3\"} 1\n",
                           "process_cpu_seconds_total 1.250\n",
                           "process_resident_memory_bytes 8000000\n",
                           "process_open_fds 17\n",
                           "process_max_fds 1024\n",
                           "process_start_time_seconds 4.000\n",
                           "cleave_coordinator_up 1\n",
                           "cleave_mode{mode=\"auto\"} 1\n",
                           "cleave_mode{mode=\"observe\"} 0\n",
                           "cleave_trouble{kind=\"node-down\"} 1\n",
                           "cleave_trouble{kind=\"coordinator-away\"} 0\n",
                           "cleave_moves_ended_total{end=\"committed\"} 3\n",
                           "cleave_moves_ended_total{end=\"aborted\"} 1\n",
                           "cleave_moved_keys_total 700\n",
                           "cleave_moved_bytes_total 90000\n",
                           "cleave_node_keys{node=\"a\"} 5\n",
                           "cleave_node_memory_max_bytes{node=\"a\"} 4000\n",
                           "cleave_node_marked{node=\"a\"} 1\n",
                           "cleave_node_load_ratio{node=\"a\"} 1.500000\n",
                           "cleave_node_load_ratio{node=\"b\"} 0.500000\n",
                           "cleave_node_requests_per_second{node=\"b\"} 10\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(Metrics, WhatIsNotKnownIsLeftOut) {
  EXPECT_EQ(metrics_text().find("cleave_node_keys{node=\"b\"}"), std::string::npos);
}

TEST(Metrics, VerdictsAreCountedByEachReasonThereIs) {
  const std::string text = metrics_text();
  for (const balance::Reason& each : balance::reasons()) {
    const std::string sample = "cleave_verdicts{reason=\"" + std::string(each.name) + "\"} " +
                               (each.why == balance::Why::kNoTarget ? "1" : "0") + "\n";
    EXPECT_NE(text.find(sample), std::string::npos) << sample;
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
