#include "app/text/status_text.h"

#include <algorithm>
#include <optional>

#include "app/text/plan_text.h"
#include "app/text/stray_text.h"
#include "app/text/table.h"
#include "app/times.h"
#include "base/shown.h"

namespace cleave::app {
namespace {

constexpr std::size_t kNameWidth = 18;
constexpr std::size_t kHottestKeyWidth = 40;
constexpr std::size_t kVerdictsShown = 5;
constexpr std::size_t kLeftoversShown = 3;
constexpr const char* kUnknown = "unknown";

std::optional<std::uint64_t> known_number(const Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::string line(const std::string& text) { return wrapped(text, kTerminalWidth, 2); }

std::string or_unknown(const std::optional<std::uint64_t>& number) {
  return number ? compact(*number) : "?";
}

// "1.2k/4.0M"; without a limit only what is used.
std::string memory_text(const Json& node) {
  const auto used = known_number(node, "memory_bytes");
  if (!used) return "?";
  const std::uint64_t most = known_number(node, "memory_bytes_max").value_or(0);
  return most == 0 ? compact(*used) : compact(*used) + "/" + compact(most);
}

// One word: what the node is for clients now.
std::string role_text(const Json& node) {
  if (!node.value("up", false)) {
    return node.value("error", "") == "not asked yet" ? kUnknown : "DOWN";
  }
  if (node.value("role", "") == "replica") return "REPLICA";
  if (node.value("state", "") == "draining") return "draining";
  return node.value("role", kUnknown);
}

// Of one core's time.
std::string load_of(const Json& node) {
  const auto load = known_number(node, "load_ns");
  return load ? percent(*load / 1'000) : "?";
}

std::string ratio_of(const Json& node) {
  const auto load = known_number(node, "load_ns");
  if (!load) return "?";
  return known_number(node, "load_ratio_ppm") ? ratio(node, "load_ratio_ppm") + "x" : "-";
}

std::string nodes_text(const Json& nodes) {
  Table table({"node", "role", "share", "load", "ratio", "req/s", "keys", "memory"});
  bool all_known = true;
  for (const Json& node : nodes) {
    all_known = all_known && node.contains("keys") && node.contains("load_ns");
    table.add({shortened(node.value("name", ""), kNameWidth), role_text(node),
               percent(node.value("share_ppm", std::uint64_t{0})), load_of(node), ratio_of(node),
               or_unknown(known_number(node, "requests_per_s")),
               or_unknown(known_number(node, "keys")), memory_text(node)});
  }
  return table.text() + (all_known ? "" : line("?: unknown to this router, or not known yet"));
}

std::string servers_text(const Json& nodes) {
  Table table({"node", "address", "version", "ping", "evicts"});
  for (const Json& node : nodes) {
    const auto ping = known_number(node, "ping_us");
    table.add({shortened(node.value("name", ""), kNameWidth),
               shortened(node["members"][0].value("address", ""), 21),
               node.value("version", kUnknown), ping ? grouped(*ping) + " us" : "?",
               node.value("eviction_policy", kUnknown)});
  }
  return "\n" + table.text();
}

std::string troubles_text(const Json& status) {
  std::string text;
  std::size_t leftovers = 0;
  for (const Json& trouble : status.value("troubles", Json::array())) {
    const bool leftover = trouble.value("code", "").starts_with("leftover-");
    if (leftover && ++leftovers > kLeftoversShown) continue;
    const UnixMillis since{trouble.value("since_ms", std::int64_t{0})};
    text += line("! " + trouble.value("text", "") + " (since " + to_text(since) + ")");
  }
  if (leftovers > kLeftoversShown)
    text += line("! and of " + std::to_string(leftovers - kLeftoversShown) +
                 " more moves something was left behind: `cleave leftovers`");
  return text;
}

std::string strays_text(const Json& nodes) {
  std::string text;
  for (const Json& node : nodes) {
    if (!node.contains("strays") || node["strays"].value("seen", std::uint64_t{0}) == 0) continue;
    text += line("! node " + node.value("name", "") + ": " + stray_text(node["strays"]) +
                 "; see `cleave strays`");
  }
  return text;
}

// Lines of its own: the last is for the configuration.
std::string fits_text(const Json& status) {
  const auto fits = status.find("fits");
  return fits == status.end() || !fits->is_object() ? "" : "! " + fit_text(*fits) + "\n";
}

std::string hottest_text(const Json& status) {
  const auto hottest = status.find("hottest");
  if (hottest == status.end()) return line(std::string("hottest key: ") + kUnknown);
  if (!hottest->is_object()) return line("hottest key: none was seen");
  const std::string key = hottest->value("key", "");
  return line("hottest key: " + (key.empty() ? "\"\"" : shortened(key, kHottestKeyWidth)) + " on " +
              hottest->value("node", "") + ", " + load_of(*hottest) + " of one core");
}

std::string move_text(const Json& move) {
  const std::string waits = move.value("waits_for", "");
  return line("moving " + move["id"].dump() + ": " + move.value("source", "") + " -> " +
              move.value("destination", "") + ", " +
              percent(move.value("share_ppm", std::uint64_t{0})) + " of the ring, " +
              move.value("step", "") + ", " + grouped(move.value("keys_copied", std::uint64_t{0})) +
              " keys, " + compact(move.value("bytes_copied", std::uint64_t{0})) + "B copied" +
              (waits.empty() ? "" : ", waits for " + waits) + ": " + move.value("reason", ""));
}

// What moves, what would, and why not more.
std::string outlook_text(const Json& status) {
  std::string text;
  for (const Json& move : status["moves"]) text += move_text(move);
  for (const Json& move : status.value("planned", Json::array())) {
    text += line("planned: " + planned_text(move));
  }
  const Json why = status.value("why_not", Json::array());
  for (std::size_t i = 0; i < why.size() && i < kVerdictsShown; ++i) {
    text += line("not moved: " + verdict_text(why[i]));
  }
  if (why.size() > kVerdictsShown) {
    text +=
        line("and " + std::to_string(why.size() - kVerdictsShown) + " more reasons: cleave plan");
  }
  const std::string advice = status.value("advice", "");
  if (!advice.empty()) text += line("advice: " + advice);
  if (!text.empty()) return text;
  return line(status.contains("planned") ? "nothing moves: no node is hot or full"
                                         : "nothing moves; the leader knows why");
}

std::string stop_text(const Json& status) {
  if (status.value("frozen", false)) return line("frozen: no move begins until `cleave resume`");
  std::string text = "to stop moves: `cleave freeze`";
  if (!status["moves"].empty()) {
    text += "; one of them: `cleave abort " + status["moves"][0]["id"].dump() + "`";
  }
  const std::string mode = status.value("mode", "");
  if (status.value("flatten", false)) return line(text + "; the flatten: `cleave resume`");
  if (mode == "observe") text += "; none begins by itself in mode observe";
  if (mode == "approve") text += "; planned ones wait for `cleave approve`";
  return line(text);
}

std::string routers_text(const Json& status) {
  if (status["routers"].size() < 2) return "";
  Table table({"router", "reached at", "view", "heard", ""});
  for (const Json& router : status["routers"]) {
    const auto view = known_number(router, "view");
    const auto heard = known_number(router, "heard_ms");
    table.add({shortened(router.value("session", ""), 12), shortened(router.value("peer", ""), 22),
               view ? grouped(*view) : kUnknown, heard ? compact(*heard) + " ms ago" : "not yet",
               router.value("leader", false) ? "leads, term " + status["term"].dump() : ""});
  }
  return "\n" + table.text();
}

std::string cuts_text(const Json& cuts) {
  std::string text = "\n";
  for (const Json& cut : cuts) {
    const UnixMillis pinned{cut.value("pinned_until_ms", std::int64_t{0})};
    const UnixMillis made{cut.value("created_ms", std::int64_t{0})};
    text += "cut " + cut.value("first", "") + "-" + cut.value("last", "") + "  " +
            shortened(cut.value("node", ""), 20) + "\n";
    text += "  " + wrapped("made " + to_text(made) +
                               (pinned == UnixMillis{} ? "" : ", pinned until " + to_text(pinned)) +
                               ": " + cut.value("reason", ""),
                           kTerminalWidth - 2, 2);
  }
  return text;
}

std::string head_text(const Json& status) {
  const std::string coordinator = status.value("coordinator", "");
  return line("pool " + status.value("pool", "") + ", epoch " + status["epoch"].dump() + ", mode " +
              status.value("mode", "") + (status.value("frozen", false) ? ", FROZEN" : "") +
              (status.value("flatten", false) ? ", FLATTENING" : "") + ", " +
              status["cuts"].dump() + " cuts, coordinator " +
              (coordinator == "ok" ? "ok" : "NOT ok: " + coordinator)) +
         "\n";
}

}  // namespace

std::string status_text(const Json& status, StatusDetail detail) {
  if (!status.contains("pool")) {
    const std::string held = status.value("held", "");
    return line("not ready: coordinator " + status.value("coordinator", "")) +
           (held.empty() ? "" : line(held)) + troubles_text(status);
  }
  std::string text = head_text(status) + nodes_text(status["nodes"]);
  if (detail == StatusDetail::kServers) text += servers_text(status["nodes"]);
  text += routers_text(status) + "\n" + troubles_text(status) + strays_text(status["nodes"]) +
          fits_text(status) + hottest_text(status) + outlook_text(status) + stop_text(status);
  if (status.contains("ring")) text += cuts_text(status["ring"]["cuts"]);
  return text;
}

}  // namespace cleave::app
