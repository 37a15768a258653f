#include "app/commands/monitor_sample.h"

#include <array>
#include <memory>
#include <optional>
#include <string_view>

#include "net/asio_loop.h"
#include "rehearse/workloads/trace_workload.h"
#include "wire/writer.h"

namespace cleave::app {
namespace {

constexpr milliseconds kMonitorConnectTimeout{2'000};
constexpr std::size_t kLineBytesMax = 65'536;

// One server's connection. Its lines go into the trace of all.
class Monitor final : public net::StreamEvents {
 public:
  using Failed = std::function<void(const Error& why)>;

  Monitor(std::string name, rehearse::TraceParser& parser, Failed failed)
      : parser_(parser), failed_(std::move(failed)) {
    server_.name = std::move(name);
  }

  void connect(net::Loop& loop, const net::Address& address,
               const backend::Credentials& credentials) {
    loop.connect(address, kMonitorConnectTimeout, [this, credentials](auto connected) {
      if (!connected) return failed_({connected.error().code, named(connected.error().message)});
      stream_ = std::move(*connected);
      stream_->start(*this);
      std::string bytes;
      if (!credentials.password.empty() && credentials.user.empty())
        wire::append_command(bytes, std::array<std::string_view, 2>{"AUTH", credentials.password});
      if (!credentials.password.empty() && !credentials.user.empty())
        wire::append_command(
            bytes, std::array<std::string_view, 3>{"AUTH", credentials.user, credentials.password});
      wire::append_command(bytes, std::array<std::string_view, 1>{"MONITOR"});
      stream_->send(bytes);
    });
  }

  void on_bytes(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (line_.size() < kLineBytesMax) line_ += bytes.substr(0, end);
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      line();
      line_.clear();
    }
  }

  void on_closed(const Error& why) override {
    failed_({Code::kUnavailable, named("it closed the connection: " + why.message)});
  }

  const MonitoredServer& server() const { return server_; }

 private:
  std::string named(const std::string& why) const {
    return "server '" + server_.name + "': " + why;
  }

  void line() {
    // A pool has one password, but a server of it may want none: then AUTH is refused, and nothing
    // else is.
    if (line_.starts_with('-') && line_.contains("without any password configured")) return;
    if (line_.starts_with('-'))
      return failed_(
          {Code::kUnavailable, named("it refused: " + line_.substr(1, line_.find('\r') - 1))});
    if (line_.size() >= kLineBytesMax) return parser_.long_line();
    const std::size_t before = parser_.trace().requests.size();
    parser_.line(line_);
    if (parser_.trace().requests.size() == before) return;
    ++server_.requests;
    server_.cost += rehearse::request_ns(parser_.trace().requests.back().bytes);
  }

  rehearse::TraceParser& parser_;
  Failed failed_;
  MonitoredServer server_;
  std::unique_ptr<net::Stream> stream_;
  std::string line_;
};

}  // namespace

Result<MonitorSample> sample_servers(const std::vector<MonitorTarget>& targets,
                                     const backend::Credentials& credentials, seconds time) {
  rehearse::TraceParser parser(rehearse::TraceFormat::kMonitor);
  std::optional<Error> failure;
  MonitorSample sample;
  const std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  {
    std::vector<std::unique_ptr<Monitor>> monitors;
    for (const MonitorTarget& each : targets) {
      monitors.push_back(std::make_unique<Monitor>(each.name, parser, [&](const Error& why) {
        if (!failure) failure = why;
        loop->stop();
      }));
      monitors.back()->connect(*loop, each.address, credentials);
    }
    loop->after(time, [&] { loop->stop(); });
    loop->run();
    for (const auto& each : monitors) sample.servers.push_back(each->server());
  }
  if (failure) return std::unexpected(*failure);
  sample.trace = parser.take();
  if (sample.trace.requests.empty())
    return fail(Code::kNotFound, "no server was asked for a key while it was watched");
  return sample;
}

}  // namespace cleave::app
