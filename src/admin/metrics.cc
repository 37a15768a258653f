#include "admin/metrics.h"

#include <algorithm>
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
  Family(text, "cleave_accepting", "gauge", "1 while new clients are accepted.")
      .sample(stats.accepting ? 1U : 0U);
  Family shed(text, "cleave_clients_shed_total", "counter", "Clients closed by us, by cause.");
  for (std::size_t i = 0; i < stats.shed_by_cause.size(); ++i) {
    const auto cause = static_cast<proxy::ShedCause>(i);
    shed.sample(stats.shed_by_cause[i], "cause=\"" + std::string(proxy::to_string(cause)) + "\"");
  }
  Family(text, "cleave_requests_total", "counter", "Requests read.").sample(stats.requests);
  Family(text, "cleave_requests_refused_total", "counter", "Requests refused by the router itself.")
      .sample(stats.refused);
  Family(text, "cleave_errors_total", "counter", "Errors answered because a server failed.")
      .sample(stats.errors);
  Family(text, "cleave_timeouts_total", "counter", "Requests that a server did not answer in time.")
      .sample(stats.timeouts);
  Family(text, "cleave_retries_total", "counter", "Reads sent again after a lost connection.")
      .sample(stats.retries);
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

// Nothing of it needs a ring: it is there from the first moment on.
void add_process(std::string& text, const ProcessUsage& usage) {
  Family(text, "cleave_build_info", "gauge", "1, with the version of the program.")
      .sample("1", "version=\"" + escape_label(usage.version) + "\"", "");
  const auto cpu = static_cast<std::uint64_t>(usage.cpu.count());
  Family(text, "process_cpu_seconds_total", "counter", "User and system time of all threads.")
      .sample(seconds_of(cpu), "", "");
  Family(text, "process_resident_memory_bytes", "gauge", "Memory of the process in RAM.")
      .sample(usage.resident_bytes);
  Family(text, "process_open_fds", "gauge", "File descriptors that are open.")
      .sample(usage.open_files);
  Family(text, "process_max_fds", "gauge", "File descriptors that may be open.")
      .sample(usage.open_files_max);
  Family(text, "process_start_time_seconds", "gauge", "When the process began, since 1970.")
      .sample(seconds_of(static_cast<std::uint64_t>(usage.started.value())), "", "");
}

// What is wrong now: how many nodes (of leftovers: moves; 1 for the coordinator), by the names of
// state_book.h.
void add_troubles(std::string& text, const Facts& facts) {
  Family(text, "cleave_coordinator_up", "gauge", "1 while the coordinator reads and writes.")
      .sample(facts.status.coordinator == "ok" ? 1U : 0U);
  if (facts.states == nullptr) return;
  std::array<std::uint64_t, kTroubles> counts{};
  for (const auto& [key, standing] : facts.states->standing()) {
    ++counts[static_cast<std::size_t>(key.trouble)];
  }
  Family family(text, "cleave_trouble", "gauge",
                "What is wrong now, and of how many nodes, or moves.");
  for (std::size_t i = 0; i < kTroubles; ++i) {
    const std::string_view name = to_string(static_cast<Trouble>(i));
    family.sample(counts[i], "kind=\"" + std::string(name) + "\"");
  }
}

void add_moves(std::string& text, const control::Status& status) {
  Family ended(text, "cleave_moves_ended_total", "counter",
               "Moves that this router has driven to their end.");
  ended.sample(status.totals.committed, "end=\"committed\"");
  ended.sample(status.totals.aborted, "end=\"aborted\"");
  Family(text, "cleave_moved_keys_total", "counter", "Keys copied by moves that ended.")
      .sample(status.totals.keys);
  Family(text, "cleave_moved_bytes_total", "counter", "Bytes copied by moves that ended.")
      .sample(status.totals.bytes);
}

// What moves left behind, by how far its cleaning is.
void add_leftovers(std::string& text, const ring::Document& document) {
  Family family(text, "cleave_leftovers", "gauge",
                "Moves whose copies may lie where nobody looks for them, by state.");
  using enum ring::LeftoverState;
  for (const ring::LeftoverState state : {kOpen, kBegun, kKept, kKeptBegun}) {
    const auto entries = std::ranges::count(document.leftovers, state, &ring::Leftover::state);
    family.sample(static_cast<std::uint64_t>(entries),
                  "state=\"" + std::string(ring::to_string(state)) + "\"");
  }
}

// Of the last plan: why nothing, or not more, is done.
void add_verdicts(std::string& text, const balance::Plan& plan) {
  Family family(text, "cleave_verdicts", "gauge", "What the last plan does not help, by reason.");
  for (const balance::Reason& reason : balance::reasons()) {
    const auto count = std::ranges::count(plan.verdicts, reason.why, &balance::Verdict::why);
    family.sample(static_cast<std::uint64_t>(count), "reason=\"" + std::string(reason.name) + "\"");
  }
}

void add_ring(std::string& text, const control::Status& status) {
  const ring::Document& document = status.view->document();
  Family(text, "cleave_epoch", "gauge", "Version of the ring document.")
      .sample(document.epoch.value());
  Family(text, "cleave_leader", "gauge", "1 where this router plans.")
      .sample(status.leader ? 1U : 0U);
  Family(text, "cleave_routers", "gauge", "Routers of the pool.").sample(document.routers.size());
  Family mode(text, "cleave_mode", "gauge", "1 for the mode of the balancer.");
  for (const ring::Mode each : {ring::Mode::kObserve, ring::Mode::kApprove, ring::Mode::kAuto}) {
    mode.sample(document.mode == each ? 1U : 0U,
                "mode=\"" + std::string(ring::to_string(each)) + "\"");
  }
  Family(text, "cleave_frozen", "gauge", "1 while no move may begin.")
      .sample(document.frozen ? 1U : 0U);
  Family(text, "cleave_cuts", "gauge", "Cuts laid over the base.").sample(document.cuts.size());
  Family(text, "cleave_moves", "gauge", "Moves under way.").sample(document.moves.size());
  Family(text, "cleave_expected_events", "gauge", "Events announced and not over.")
      .sample(document.expected.size());
  add_moves(text, status);
  add_leftovers(text, document);
  if (status.plan != nullptr) {
    Family(text, "cleave_advice_nodes", "gauge", "Nodes to add: no move can help a full pool.")
        .sample(status.plan->advice_nodes);
    add_verdicts(text, *status.plan);
  }
  Family share(text, "cleave_node_share_ratio", "gauge", "Share of all tokens.");
  for (const ring::Node& node : document.nodes) {
    share.sample(fraction(ring::share_ppm(status.view->owned_by(node.id))),
                 node_label(document, node.id), "");
  }
}

// What this router's own probes say.
void add_health(std::string& text, const Facts& facts) {
  const ring::Document& document = facts.status.view->document();
  Family up(text, "cleave_node_up", "gauge", "1 while the node's primary answers.");
  for (const proxy::NodeHealth& health : facts.health) {
    up.sample(health.up ? 1U : 0U, node_label(document, health.node));
  }
  Family primary(text, "cleave_node_primary", "gauge", "1 where the server is a primary.");
  for (const proxy::NodeHealth& health : facts.health) {
    if (!health.up || health.identity.incarnation.run_id.empty()) continue;
    primary.sample(health.identity.primary ? 1U : 0U, node_label(document, health.node));
  }
  Family latency(text, "cleave_node_ping_seconds", "gauge", "How long the last PING took.");
  for (const proxy::NodeHealth& health : facts.health) {
    if (!health.up || health.latency == microseconds{0}) continue;
    const auto ppm = static_cast<std::uint64_t>(health.latency.count());
    latency.sample(fraction(ppm), node_label(document, health.node), "");
  }
}

// A gauge of what the leader knows of each server; those that did not answer are left out.
void add_of_servers(std::string& text, const Facts& facts, const char* name, const char* help,
                    std::uint64_t (*value)(const control::NodeFacts&), const char* type = "gauge") {
  Family family(text, name, type, help);
  for (const control::NodeFacts& node : facts.status.nodes) {
    if (!node.reachable) continue;
    family.sample(value(node), node_label(facts.status.view->document(), node.node));
  }
}

void add_strays(std::string& text, const Facts& facts) {
  Family strays(text, "cleave_node_strays", "gauge",
                "Keys on the primary that the ring does not look for there; estimated until all "
                "were looked at.");
  for (const control::NodeFacts& node : facts.status.nodes) {
    if (!node.strays.known) continue;
    strays.sample(node.strays.count.estimate(node.keys),
                  node_label(facts.status.view->document(), node.node));
  }
}

// Nanoseconds as seconds: 1'200'000 -> "0.001200".
std::string seconds_of(nanoseconds sum) {
  return fraction(static_cast<std::uint64_t>(sum.count()) / 1'000);
}

// Where the time of requests goes, and what becomes of them, as this router sees it.
void add_traffic(std::string& text, const Facts& facts) {
  const ring::Document& document = facts.status.view->document();
  const std::vector<proxy::NodeTraffic>& nodes = facts.router.nodes;
  Family errors(text, "cleave_node_errors_total", "counter",
                "Requests that the node's server answered with an error, or not at all, by cause.");
  for (const proxy::NodeTraffic& node : nodes) {
    for (std::size_t i = 0; i < proxy::kErrorCauses; ++i) {
      const std::string_view cause = to_string(static_cast<proxy::ErrorCause>(i));
      errors.sample(node.errors[i],
                    node_label(document, node.node) + ",cause=\"" + std::string(cause) + "\"");
    }
  }
  Family queue(text, "cleave_node_queue_seconds", "summary",
               "How long requests waited in the router to be sent, at most; without holds.");
  for (const proxy::NodeTraffic& node : nodes) {
    queue.sample(seconds_of(node.queued), node_label(document, node.node), "_sum");
    queue.sample(node.sent, node_label(document, node.node), "_count");
  }
  Family server(text, "cleave_node_server_seconds", "summary",
                "How long from the sending to the server's reply.");
  for (const proxy::NodeTraffic& node : nodes) {
    server.sample(seconds_of(node.served), node_label(document, node.node), "_sum");
    server.sample(node.replies, node_label(document, node.node), "_count");
  }
}

void add_servers(std::string& text, const Facts& facts) {
  using Node = control::NodeFacts;
  add_of_servers(text, facts, "cleave_node_keys", "Keys on the node's primary.",
                 [](const Node& node) { return node.keys; });
  add_of_servers(text, facts, "cleave_node_copies",
                 "Keys of moves there that another node owns; not among cleave_node_keys.",
                 [](const Node& node) { return node.copies; });
  add_of_servers(text, facts, "cleave_node_memory_bytes", "Memory that the primary uses.",
                 [](const Node& node) { return node.memory_bytes; });
  add_of_servers(text, facts, "cleave_node_memory_max_bytes", "Its maxmemory; 0: no limit.",
                 [](const Node& node) { return node.memory_bytes_max; });
  add_of_servers(
      text, facts, "cleave_node_commands_total", "Commands processed, by the server's own count.",
      [](const Node& node) { return node.commands; }, "counter");
  add_of_servers(text, facts, "cleave_node_marked", "1 where it carries this pool's marker.",
                 [](const Node& node) -> std::uint64_t { return node.marked ? 1 : 0; });
  add_of_servers(text, facts, "cleave_node_foreign_writes_per_second",
                 "Writes past the routers, in the last interval that could be judged.",
                 [](const Node& node) { return node.unattributed_writes; });
}

// While this router leads, and once it knows.
void add_heat(std::string& text, const control::Status& status) {
  if (!heat_is_known(status)) return;
  const ring::Document& document = status.view->document();
  Family load(text, "cleave_node_load_ratio", "gauge",
              "Load beside what the node should carry by its weight.");
  for (const heat::NodeLoad& node : status.heat->nodes) {
    const auto ratio = load_ratio_ppm(status, node.node);
    if (ratio) load.sample(fraction(*ratio), node_label(document, node.node), "");
  }
  Family requests(text, "cleave_node_requests_per_second", "gauge", "Of all routers, 10 s mean.");
  for (const heat::NodeLoad& node : status.heat->nodes) {
    requests.sample(node.requests, node_label(document, node.node));
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
  add_process(text, facts.process);
  add_router(text, facts.router);
  add_holds(text, facts.router.hold_ms_histogram);
  add_troubles(text, facts);
  if (facts.status.view != nullptr) {
    add_ring(text, facts.status);
    add_health(text, facts);
    add_traffic(text, facts);
    add_servers(text, facts);
    add_strays(text, facts);
    add_heat(text, facts.status);
  }
  return text;
}

}  // namespace cleave::admin
