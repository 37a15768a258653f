// INFO in Redis's own form, so that clients and tools that look for its lines find them; TIME.
#include <algorithm>
#include <chrono>
#include <string>

#include "proxy/answers/registry.h"
#include "proxy/answers/server_commands.h"
#include "wire/resp.h"

namespace cleave::proxy {
namespace {

using Args = std::span<const std::string_view>;

class Text {
 public:
  explicit Text(Args sections) : sections_(sections) {}

  bool section(std::string_view name) {
    const auto asked = [&](std::string_view word) {
      return route::same_word(word, name) || route::same_word(word, "all") ||
             route::same_word(word, "everything") || route::same_word(word, "default");
    };
    if (!sections_.empty() && std::ranges::none_of(sections_, asked)) return false;
    if (!text_.empty()) text_ += "\r\n";
    text_ += "# " + std::string(name) + "\r\n";
    return true;
  }
  void line(std::string_view name, std::string_view value) {
    text_.append(name).append(":").append(value).append("\r\n");
  }
  void line(std::string_view name, std::uint64_t value) { line(name, std::to_string(value)); }

  std::string take() { return std::move(text_); }

 private:
  Args sections_;
  std::string text_;
};

std::uint64_t uptime_seconds(const Ask& ask) {
  const nanoseconds age = ask.now - ask.process.started;
  return static_cast<std::uint64_t>(std::chrono::duration_cast<seconds>(age).count());
}

After answer_info(const Ask& ask, std::string& out) {
  const ProcessFacts& process = ask.process;
  const ring::Document& document = ask.view.document();
  Text text(ask.args.subspan(1));
  if (text.section("Server")) {
    text.line("redis_version", ask.commands.version());
    text.line("redis_mode", "standalone");
    text.line("server_name", "cleave");
    text.line("run_id", process.session);
    text.line("tcp_port", process.port.load());
    text.line("uptime_in_seconds", uptime_seconds(ask));
  }
  if (text.section("Clients")) {
    text.line("connected_clients", process.sum(&WorkerCounters::clients));
  }
  if (text.section("Stats")) {
    text.line("total_connections_received", process.sum(&WorkerCounters::clients_total));
    text.line("total_commands_processed", process.sum(&WorkerCounters::requests));
  }
  if (text.section("Replication")) {
    text.line("role", "master");
    text.line("connected_slaves", std::uint64_t{0});
  }
  if (text.section("Cluster")) text.line("cluster_enabled", std::uint64_t{0});
  if (text.section("Cleave")) {
    text.line("cleave_workers", process.workers.size());
    text.line("cleave_nodes", document.nodes.size());
    text.line("cleave_epoch", document.epoch.value());
    text.line("cleave_refused", process.sum(&WorkerCounters::refused));
    text.line("cleave_errors", process.sum(&WorkerCounters::errors));
    text.line("cleave_timeouts", process.sum(&WorkerCounters::timeouts));
    text.line("cleave_held_now", process.sum(&WorkerCounters::held_now));
    text.line("cleave_held_total", process.sum(&WorkerCounters::held_total));
    text.line("cleave_clients_shed", process.shed());
  }
  wire::append_bulk(out, text.take());
  return After::kGoOn;
}

After answer_time(const Ask& ask, std::string& out) {
  const std::int64_t millis = ask.wall.value();
  wire::append_array_header(out, 2);
  wire::append_bulk(out, std::to_string(millis / 1'000));
  wire::append_bulk(out, std::to_string(millis % 1'000 * 1'000));
  return After::kGoOn;
}

}  // namespace

constinit const Answer kInfoAnswer{
    .name = "info",
    .handler = answer_info,
    .syntax = "[section ...]",
    .summary = "of the router: Server, Clients, Stats, Replication, Cluster, Cleave",
};

constinit const Answer kTimeAnswer{
    .name = "time",
    .handler = answer_time,
    .summary = "the router's clock",
};

}  // namespace cleave::proxy
