#include "admin/metrics.h"

#include <array>
#include <cstdint>
#include <vector>

namespace cleave::admin {
namespace {

// One family: its HELP and TYPE lines once, then its samples.
class Family {
 public:
  Family(std::string& text, std::string_view name, std::string_view type, std::string_view help)
      : text_(text), name_(name) {
    text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
  }

  void sample(std::uint64_t value, std::string_view labels = "", std::string_view suffix = "") {
    sample(std::to_string(value), labels, suffix);
  }
  void sample(const std::string& value, std::string_view labels, std::string_view suffix) {
    text_.append(name_).append(suffix);
    if (!labels.empty()) text_.append("{").append(labels).append("}");
    text_.append(" ").append(value).append("\n");
  }

 private:
  std::string& text_;
  std::string name_;
};

std::string node_label(const ring::Document& document, NodeId node) {
  return "node=\"" + escape_label(name_of(document, node)) + "\"";
}

// Millionths as a fraction: 250000 -> "0.250000".
std::string fraction(std::uint64_t ppm) {
  const std::string digits = std::to_string(1'000'000 + ppm % 1'000'000);
  return std::to_string(ppm / 1'000'000) + "." + digits.substr(1);
}

// Milliseconds as seconds: 12 -> "0.012".
std::string seconds_of(std::uint64_t milliseconds) {
  const std::string digits = std::to_string(1'000 + milliseconds % 1'000);
  return std::to_string(milliseconds / 1'000) + "." + digits.substr(1);
}

void add_router(std::string& text, const proxy::RouterStats& stats) {
  Family(text, "cleave_clients", "gauge", "Clients connected now.").sample(stats.clients);
  Family(text, "cleave_clients_total", "counter", "Clients accepted.").sample(stats.clients_total);
  Family(text, "cleave_requests_total", "counter", "Requests read.").sample(stats.requests);
  Family(text, "cleave_requests_refused_total", "counter", "Requests refused by the router itself.")
      .sample(stats.refused);
  Family(text, "cleave_errors_total", "counter", "Errors answered because a server failed.")
      .sample(stats.errors);
  Family(text, "cleave_timeouts_total", "counter", "Requests that a server did not answer in time.")
      .sample(stats.timeouts);
  Family(text, "cleave_held_requests", "gauge", "Requests held at a fence now.")
      .sample(stats.held_now);
  Family(text, "cleave_held_requests_total", "counter", "Requests that were held at a fence.")
      .sample(stats.held_total);
}

// How long ranges were held. The router counts in steps of one millisecond, the last step open; a
// Prometheus histogram wants cumulative counts up to bounds.
void add_holds(std::string& text, const std::vector<std::uint64_t>& steps) {
  if (steps.empty()) return;
  constexpr std::array<std::uint64_t, 8> kBoundsMs = {1, 2, 5, 10, 20, 50, 100, 200};
  Family family(text, "cleave_fence_hold_seconds", "histogram", "How long a range was held.");
  std::uint64_t below = 0;
  std::uint64_t sum_ms = 0;
  std::size_t step = 0;
  for (const std::uint64_t bound : kBoundsMs) {
    for (; step + 1 < steps.size() && step < bound; ++step) {
      below += steps[step];
      sum_ms += steps[step] * (step + 1);
    }
    family.sample(below, "le=\"" + seconds_of(bound) + "\"", "_bucket");
  }
  for (; step < steps.size(); ++step) {
    below += steps[step];
    sum_ms += steps[step] * (step + 1);
  }
  family.sample(below, "le=\"+Inf\"", "_bucket");
  family.sample(seconds_of(sum_ms), "", "_sum");
  family.sample(below, "", "_count");
}

void add_ring(std::string& text, const control::Status& status) {
  const ring::Document& document = status.view->document();
  Family(text, "cleave_epoch", "gauge", "Version of the ring document.")
      .sample(document.epoch.value());
  Family(text, "cleave_leader", "gauge", "1 where this router plans.")
      .sample(status.leader ? 1U : 0U);
  Family(text, "cleave_frozen", "gauge", "1 while no move may begin.")
      .sample(document.frozen ? 1U : 0U);
  Family(text, "cleave_cuts", "gauge", "Cuts laid over the base.").sample(document.cuts.size());
  Family(text, "cleave_moves", "gauge", "Moves under way.").sample(document.moves.size());
  Family(text, "cleave_expected_events", "gauge", "Events announced and not over.")
      .sample(document.expected.size());
  if (status.plan != nullptr) {
    Family(text, "cleave_advice_nodes", "gauge", "Nodes to add: no move can help a full pool.")
        .sample(status.plan->advice_nodes);
  }
  Family share(text, "cleave_node_share_ratio", "gauge", "Share of all tokens.");
  for (const ring::Node& node : document.nodes) {
    share.sample(fraction(ring::share_ppm(status.view->owned_by(node.id))),
                 node_label(document, node.id), "");
  }
}

void add_nodes(std::string& text, const Facts& facts) {
  const ring::Document& document = facts.status.view->document();
  Family up(text, "cleave_node_up", "gauge", "1 while the node's primary answers.");
  for (const proxy::NodeHealth& health : facts.health) {
    up.sample(health.up ? 1U : 0U, node_label(document, health.node));
  }
  Family keys(text, "cleave_node_keys", "gauge", "Keys on the node's primary.");
  for (const control::NodeFacts& node : facts.status.nodes) {
    keys.sample(node.keys, node_label(document, node.node));
  }
  Family memory(text, "cleave_node_memory_bytes", "gauge", "Memory that the primary uses.");
  for (const control::NodeFacts& node : facts.status.nodes) {
    memory.sample(node.memory_bytes, node_label(document, node.node));
  }
  Family strays(text, "cleave_node_strays", "gauge",
                "Keys on the primary that the ring does not look for there; estimated until all "
                "were looked at.");
  for (const control::NodeFacts& node : facts.status.nodes) {
    if (!node.strays.known) continue;
    strays.sample(node.strays.count.estimate(node.keys), node_label(document, node.node));
  }
  Family commands(text, "cleave_node_commands_total", "counter",
                  "Commands processed, by the server's own count.");
  for (const control::NodeFacts& node : facts.status.nodes) {
    commands.sample(node.commands, node_label(document, node.node));
  }
}

}  // namespace

std::string escape_label(std::string_view value) {
  std::string escaped;
  for (const char c : value) {
    if (c == '\n') {
      escaped += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') escaped.push_back('\\');
    escaped.push_back(c);
  }
  return escaped;
}

std::string render_metrics(const Facts& facts) {
  std::string text;
  add_router(text, facts.router);
  add_holds(text, facts.router.hold_ms_histogram);
  if (facts.status.view != nullptr) {
    add_ring(text, facts.status);
    add_nodes(text, facts);
  }
  return text;
}

}  // namespace cleave::admin
