// A Redis server in virtual time, as far as the control side asks one: for tests of how what it
// says is taken, above all when it says no. (What a real one says is for the tests with real ones.)
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "net/virtual_testing.h"
#include "wire/resp.h"

namespace cleave::backend {

// Holds strings. Answers `latency` after a request has arrived, each connection in its order.
class VirtualRedis final : public net::VirtualHost {
 public:
  explicit VirtualRedis(std::string name) : run_id(name + "-run"), replid(name + "-repl") {}

  // ---- what it is ----
  std::string run_id;
  std::string replid;
  std::string role = "master";
  std::uint32_t replicas = 0;
  std::uint64_t offset = 0;
  std::string policy = "noeviction";
  milliseconds clock{0};  // ahead of the others'
  milliseconds latency{1};
  std::map<std::string, std::string> values;
  std::map<std::string, std::uint64_t> sizes;      // by MEMORY USAGE; 100 where none is given
  std::map<std::uint64_t, std::string> strangers;  // connections of others: id -> name
  std::size_t page = 1'000;                        // keys of a SCAN

  // ---- what goes wrong ----
  bool down = false;    // connections are refused
  bool silent = false;  // takes requests, and says and does nothing
  // What it says to a command ("SCAN") or a command with its first argument ("CLIENT LIST") in the
  // place of its answer: an error without the "-".
  std::map<std::string, std::string> errors;
  // Runs before each command is carried out.
  std::function<void(const std::string& command)> before = nullptr;

  // ---- what was asked: the command with its arguments, values left out ----
  std::vector<std::string> log;
  std::size_t asked(std::string_view beginning) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(log, [&](const auto& each) { return each.starts_with(beginning); }));
  }
  // The names of its connections.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& [id, connection] : open_) all.push_back(connection.name);
    return all;
  }

  void break_connections() {
    for (const auto& [id, connection] : std::map(open_)) connection.stream->break_off();
  }
  // Another life: its connections end, what it holds stays.
  void restart() {
    run_id += "'";
    break_connections();
  }

  Result<std::unique_ptr<net::Stream>> connect(net::VirtualLoop& loop) override {
    if (down) return fail(Code::kUnavailable, "connection refused");
    return std::make_unique<Connection>(loop, *this, ++last_connection_);
  }

 private:
  using Args = std::span<const std::string_view>;

  class Connection final : public net::Stream {
   public:
    Connection(net::VirtualLoop& loop, VirtualRedis& server, std::uint64_t id)
        : loop_(loop), server_(server), id_(id) {
      server_.open_[id_] = {.name = "", .stream = this};
    }
    ~Connection() override { close(); }

    void start(net::StreamEvents& events) override { events_ = &events; }
    void send(std::string_view bytes) override {
      sent_ += bytes.size();
      if (closed_ || server_.silent) return;
      pending_ += bytes;
      std::string replies;
      wire::Request request;
      for (;;) {
        const auto taken = parser_.parse(pending_, request);
        if (!taken || *taken == 0) break;
        replies += server_.answer(loop_, id_, request.args);
        if (closed_) return;
        pending_.erase(0, *taken);
      }
      loop_.after(server_.latency, [this, alive = std::weak_ptr(alive_), replies] {
        if (!alive.expired() && !closed_ && !replies.empty()) events_->on_bytes(replies);
      });
    }
    std::size_t unsent() const override { return 0; }
    std::uint64_t sent_total() const override { return sent_; }
    void pause_reading() override {}
    void resume_reading() override {}
    void close() override {
      closed_ = true;
      server_.open_.erase(id_);
    }
    std::string peer() const override { return "virtual:6379"; }

    void break_off() {
      close();
      loop_.post([this, alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) events_->on_closed({Code::kUnavailable, "the connection broke"});
      });
    }

   private:
    net::VirtualLoop& loop_;
    VirtualRedis& server_;
    std::uint64_t id_;
    net::StreamEvents* events_ = nullptr;
    wire::RequestParser parser_{Limits{}};
    std::string pending_;
    std::uint64_t sent_ = 0;
    bool closed_ = false;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  };

  struct Open {
    std::string name;
    Connection* stream = nullptr;
  };

  // A payload as DUMP gives one: the value, the version (11) and a checksum.
  static constexpr std::string_view kFooter{"\x0b\x00sumsumsu", 10};
  static std::string dump_of(const std::string& value) { return value + std::string(kFooter); }

  static std::string ok() { return "+OK\r\n"; }
  static std::string number(std::int64_t value) { return made(wire::append_integer, value); }
  static std::string bulk(std::string_view text) { return made(wire::append_bulk, text); }
  static std::string null() {
    std::string out;
    wire::append_null(out);
    return out;
  }
  template <class Append, class Value>
  static std::string made(Append append, const Value& value) {
    std::string out;
    append(out, value);
    return out;
  }
  template <class... Elements>
  static std::string array(const Elements&... elements) {
    std::string out;
    wire::append_array_header(out, sizeof...(elements));
    (wire::append_bulk(out, elements), ...);
    return out;
  }

  std::string answer(net::VirtualLoop& loop, std::uint64_t connection, Args args) {
    std::string command(args[0]);
    const std::string with = args.size() > 1 ? command + ' ' + std::string(args[1]) : command;
    log.push_back(with);
    if (before) before(with);
    for (const std::string& said : {with, command}) {
      if (errors.contains(said)) return "-" + errors[said] + "\r\n";
    }
    if (command == "CLIENT") return client(connection, args);
    if (command == "INFO") return bulk(info(args[1]));
    if (command == "TIME") return time(loop);
    if (command == "SCAN") return scan(args);
    if (command == "SET") return set(args);
    if (command == "MEMORY") return memory(std::string(args[2]));
    if (command == "EXISTS" || command == "UNLINK") return each(command, args.subspan(1));
    if (command == "DBSIZE") return number(static_cast<std::int64_t>(values.size()));
    if (command == "WAIT") return number(replicas);
    if (command == "PING") return "+PONG\r\n";
    if (command == "CONFIG") return array(std::string_view("proto-max-bulk-len"), "536870912");
    if (command == "COMMAND") return commands();
    return of_key(command, args);
  }

  std::string of_key(const std::string& command, Args args) {
    const auto held = args.size() > 1 ? values.find(std::string(args[1])) : values.end();
    if (command == "RESTORE") {
      const std::string_view payload = args[3];
      values[std::string(args[1])] = payload.substr(0, payload.size() - kFooter.size());
      return ok();
    }
    if (command == "GET") return held == values.end() ? null() : bulk(held->second);
    if (command == "DUMP") return held == values.end() ? null() : bulk(dump_of(held->second));
    if (command == "PEXPIRETIME") return number(held == values.end() ? -2 : -1);
    if (command == "OBJECT") return number(0);
    return "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";
  }

  std::string client(std::uint64_t connection, Args args) {
    if (args[1] == "SETNAME") {
      open_[connection].name = args[2];
      return ok();
    }
    if (args[1] == "ID") return number(static_cast<std::int64_t>(connection));
    if (args[1] == "LIST") {
      std::string lines;
      for (const auto& [id, open] : open_)
        lines += "id=" + std::to_string(id) + " addr=10.9.9.9:1 name=" + open.name + " age=1\n";
      for (const auto& [id, name] : strangers)
        lines += "id=" + std::to_string(id) + " addr=10.9.9.9:1 name=" + name + " age=1\n";
      return bulk(lines);
    }
    const std::uint64_t id = std::stoull(std::string(args[3]));  // KILL ID
    if (strangers.erase(id) > 0) return number(1);
    const auto open = open_.find(id);
    if (open == open_.end()) return number(0);
    open->second.stream->break_off();
    return number(1);
  }

  std::string info(std::string_view section) const {
    if (section == "server")
      return "redis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:" + run_id + "\r\n";
    if (section == "replication")
      return "role:" + role + "\r\nconnected_slaves:" + std::to_string(replicas) +
             "\r\nmaster_replid:" + replid +
             "\r\nmaster_replid2:0000\r\nmaster_repl_offset:" + std::to_string(offset) +
             "\r\nsecond_repl_offset:-1\r\n";
    if (section == "memory")
      return "used_memory:1000000\r\nmaxmemory:0\r\nmaxmemory_policy:" + policy + "\r\n";
    if (section == "stats")
      return "total_commands_processed:" + std::to_string(log.size()) + "\r\n";
    if (section == "commandstats") return "cmdstat_get:calls=10,usec=20,usec_per_call=2.00\r\n";
    return "";
  }

  std::string time(const net::VirtualLoop& loop) const {
    const std::int64_t now = loop.wall_now().value() + clock.count();
    return array(std::to_string(now / 1'000), std::to_string(now % 1'000 * 1'000));
  }

  std::string scan(Args args) const {
    const auto from = static_cast<std::size_t>(std::stoull(std::string(args[1])));
    std::string keys;
    std::size_t at = 0;
    std::size_t found = 0;
    for (const auto& [key, value] : values) {
      if (at++ < from || found == page) continue;
      wire::append_bulk(keys, key);
      ++found;
    }
    const std::size_t next = from + found < values.size() ? from + found : 0;
    std::string out;
    wire::append_array_header(out, 2);
    wire::append_bulk(out, std::to_string(next));
    wire::append_array_header(out, found);
    return out + keys;
  }

  std::string set(Args args) {
    const std::string key(args[1]);
    const bool there = values.contains(key);
    const std::string_view when = args.size() > 3 ? args[3] : "";
    if ((when == "NX" && there) || (when == "XX" && !there)) return null();
    values[key] = args[2];
    return ok();
  }

  std::string memory(const std::string& key) {
    if (!values.contains(key)) return null();
    return number(sizes.contains(key) ? static_cast<std::int64_t>(sizes[key]) : 100);
  }

  std::string each(const std::string& command, Args keys) {
    std::int64_t there = 0;
    for (const std::string_view key : keys) {
      const auto found = values.find(std::string(key));
      if (found == values.end()) continue;
      ++there;
      if (command == "UNLINK") values.erase(found);
    }
    return number(there);
  }

  // GET and SET, in the form of Redis 7.
  static std::string commands() {
    std::string out;
    wire::append_array_header(out, 2);
    for (const auto& [name, flag] : {std::pair("get", "readonly"), std::pair("set", "write")}) {
      wire::append_array_header(out, 6);
      wire::append_bulk(out, name);
      wire::append_integer(out, name == std::string_view("get") ? 2 : -3);
      wire::append_array_header(out, 1);
      wire::append_status(out, flag);
      for (int i = 0; i < 3; ++i) wire::append_integer(out, 1);
    }
    return out;
  }

  std::map<std::uint64_t, Open> open_;
  std::uint64_t last_connection_ = 100;
};

}  // namespace cleave::backend
