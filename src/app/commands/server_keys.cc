#include "app/commands/server_keys.h"

#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "base/own_names.h"
#include "control/observe/info_facts.h"
#include "control/strays/surveyor.h"
#include "net/asio_loop.h"
#include "wire/reply.h"
#include "wire/reply_scanner.h"
#include "wire/writer.h"

namespace cleave::app {
namespace {

constexpr milliseconds kConnectTimeout{2'000};
constexpr seconds kPatience{60};
constexpr std::size_t kSearchedKeys = 4'000;  // of all servers

// One server's connection: INFO, then SCAN until there is enough.
class KeyReader final : public net::StreamEvents {
 public:
  using Ended = std::function<void(Result<void>)>;

  KeyReader(std::string name, Ended ended) : name_(std::move(name)), ended_(std::move(ended)) {}

  void connect(net::Loop& loop, const net::Address& address,
               const backend::Credentials& credentials) {
    loop.connect(address, kConnectTimeout, [this, credentials](auto connected) {
      if (!connected) return end(connected.error().message);
      stream_ = std::move(*connected);
      stream_->start(*this);
      if (!credentials.password.empty()) {
        std::vector<std::string_view> auth{"AUTH"};
        if (!credentials.user.empty()) auth.push_back(credentials.user);
        auth.push_back(credentials.password);
        ask(auth);
      } else {
        log_in_answered_ = true;
      }
      ask({"INFO", "keyspace"});
    });
  }

  void on_bytes(std::string_view bytes) override {
    pending_ += bytes;
    while (!over_) {
      const Result<std::size_t> size = scanner_.scan(pending_);
      if (!size) return end(size.error().message);
      if (*size == 0) return;
      const Result<wire::Reply> reply = wire::parse_reply(pending_.substr(0, *size));
      pending_.erase(0, *size);
      if (!reply) return end(reply.error().message);
      answered(*reply);
    }
  }

  void on_closed(const Error& why) override { end("it closed the connection: " + why.message); }

  ServerKeys take() { return std::move(found_); }

 private:
  void ask(const std::vector<std::string_view>& words) {
    std::string bytes;
    wire::append_command(bytes, words);
    stream_->send(bytes);
  }

  void answered(const wire::Reply& reply) {
    // A pool has one password, but a server of it may want none.
    if (!std::exchange(log_in_answered_, true)) {
      const bool unwanted = reply.text.contains("without any password configured");
      return reply.is_error() && !unwanted ? end("it refused: " + reply.text) : void();
    }
    if (reply.is_error()) return end("it refused: " + reply.text);
    if (!std::exchange(told_databases_, true)) {
      found_.databases = control::other_databases(reply.text);
      return ask({"INFO", "commandstats"});
    }
    if (!std::exchange(told_scripts_, true)) {
      found_.scripts = control::script_calls(reply.text);
      return ask({"SCAN", "0", "COUNT", "1000"});
    }
    if (reply.elements.size() != 2) return end("it answered SCAN with something else");
    for (const wire::Reply& key : reply.elements[1].elements) {
      if (!key.text.starts_with(kOwnKeyPrefix)) found_.keys.push_back(key.text);
    }
    found_.whole = reply.elements[0].text == "0";
    if (found_.whole || found_.keys.size() >= kServerKeysMax) return end({});
    ask({"SCAN", reply.elements[0].text, "COUNT", "1000"});
  }

  void end(const std::string& why) {
    if (std::exchange(over_, true)) return;
    if (why.empty()) return ended_({});
    ended_(fail(Code::kUnavailable, "server '" + name_ + "': " + why));
  }

  std::string name_;
  Ended ended_;
  ServerKeys found_;
  std::unique_ptr<net::Stream> stream_;
  std::string pending_;
  wire::ReplyScanner scanner_{Limits{}};
  bool log_in_answered_ = false;
  bool told_databases_ = false;
  bool told_scripts_ = false;
  bool over_ = false;
};

}  // namespace

Result<std::vector<ServerKeys>> read_server_keys(const std::vector<MonitorTarget>& targets,
                                                 const backend::Credentials& credentials) {
  const std::unique_ptr<net::AsioLoop> loop = net::make_loop();
  std::size_t open = targets.size();
  Result<void> result = fail(Code::kUnavailable, "the servers did not tell their keys in time");
  std::vector<std::unique_ptr<KeyReader>> readers;
  for (const MonitorTarget& each : targets) {
    readers.push_back(std::make_unique<KeyReader>(each.name, [&](const Result<void>& ended) {
      if (!ended) result = ended;
      if (ended && --open == 0) result = {};
      if (!ended || open == 0) loop->stop();
    }));
    readers.back()->connect(*loop, each.address, credentials);
  }
  loop->after(kPatience, [&] { loop->stop(); });
  loop->run();
  if (!result) return std::unexpected(result.error());
  std::vector<ServerKeys> all;
  for (const auto& reader : readers) all.push_back(reader->take());
  return all;
}

Result<KeysFit> fit_of(const std::vector<ServerKeys>& servers, const ring::SchemeSpec& scheme,
                       std::vector<ring::NamedNodes> names) {
  const auto placement = ring::place(scheme, names.front().nodes);
  if (!placement) return std::unexpected(placement.error());
  KeysFit fit;
  std::vector<std::vector<std::string>> sample;
  std::uint64_t sample_elsewhere = 0;
  for (std::size_t node = 0; node < servers.size(); ++node) {
    control::StrayCount& count = fit.nodes.emplace_back();
    sample.emplace_back();
    count.whole = servers[node].whole;
    for (const std::string& key : servers[node].keys) {
      ++count.keys;
      // As in a pool: a key without a place goes to the owner of the first token.
      const std::size_t owner =
          (*placement)->owner((*placement)->token_of(key).value_or(ring::kFirstToken));
      const bool sampled = sample.back().size() < kSearchedKeys / servers.size();
      if (sampled) sample.back().push_back(key);
      if (owner == node) continue;
      ++count.strays;
      if (sampled) ++sample_elsewhere;
      if (count.examples.size() < control::StrayCount::kExamples) {
        const NodeId looked_for{static_cast<std::uint32_t>(owner + 1)};
        count.examples.push_back({.key = key, .owner = looked_for});
      }
    }
    fit.keys += count.keys;
    fit.elsewhere += count.strays;
  }
  const bool few = fit.keys < control::Surveyor::kFitKeysMin;
  if (few || fit.elsewhere * 1'000 <= fit.keys) return fit;
  ring::SchemeSearch search(std::move(names), std::move(sample));
  while (search.step()) {
  }
  if (search.best() && search.best()->elsewhere * 2 < sample_elsewhere) fit.better = search.best();
  return fit;
}

}  // namespace cleave::app
