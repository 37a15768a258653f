// twemproxy (nutcracker) 0.5.0: a YAML mapping of pools, each a mapping of directives. Values are
// texts: `true` and `false` are compared as such, numbers are decimal.
//
//   servers   "host:port:weight [name]": the name is what stands behind the last blank, the weight
//             behind the last colon. Hashed is the name; without one "host:port", and "host" alone
//             where the port is 11211.
//   redis     false, the default: the pool speaks memcached
//   eject     auto_eject_hosts takes a failing server out of the ring for server_retry_timeout:
//             its keys are then read and written elsewhere
#include <algorithm>
#include <optional>

#include "base/to_number.h"
#include "convert/pool/address.h"
#include "convert/pool/notes.h"
#include "convert/read/readers.h"
#include "convert/read/yaml_tree.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::convert {
namespace {

// "host:port:weight [name]" taken apart; empty: not there.
struct ServerText {
  std::string_view host;
  std::string_view port;
  std::string_view weight;
  std::string_view name;
};

// What stands behind the last `mark`, cut off the text; nullopt, and nothing cut, without one.
std::optional<std::string_view> cut_behind(std::string_view& text, char mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view behind = text.substr(at + 1);
  text = text.substr(0, at);
  return behind;
}

std::optional<ServerText> cut_apart(std::string_view text) {
  ServerText parts;
  parts.name = cut_behind(text, ' ').value_or("");
  const auto weight = cut_behind(text, ':');
  const auto port = weight ? cut_behind(text, ':') : std::nullopt;
  if (!port) return std::nullopt;
  parts.weight = *weight;
  parts.port = *port;
  parts.host = text;
  return parts;
}

class PoolReader {
 public:
  PoolReader(const std::string& file, const std::string& name) : notes_(file, name) {
    pool_.name = name;
    pool_.kind = Kind::kCache;
    pool_.scheme.name = "twemproxy-ketama";
  }

  Result<Pool> read(const YAML::Node& directives) && {
    for (const YamlEntry& entry : entries_of(directives)) read_directive(entry);
    if (!has_listener_) notes_.refuse(line_of(directives), "'listen' is missing");
    if (pool_.nodes.empty()) notes_.refuse(line_of(directives), "no servers");
    judge_protocol();
    judge_ejection();
    if (names_with_default_port_) pool_.scheme.options["named"] = "true";
    return std::move(notes_).finish(std::move(pool_));
  }

 private:
  void read_directive(const YamlEntry& entry) {
    const std::size_t line = line_of(entry.value);
    if (entry.key == "servers") return read_servers(entry.value);
    if (!entry.value.IsScalar()) return notes_.refuse(line, "'" + entry.key + "': want one value");
    const std::string value = entry.value.Scalar();
    if (entry.key == "listen") {
      read_listener(value, line);
    } else if (entry.key == "hash" || entry.key == "hash_tag") {
      pool_.scheme.options[entry.key] = value;
    } else if (entry.key == "distribution") {
      read_distribution(value, line);
    } else if (entry.key == "redis") {
      redis_ = read_flag(entry.key, value, line);
    } else if (entry.key == "auto_eject_hosts") {
      eject_line_ = read_flag(entry.key, value, line) ? line : 0;
    } else if (entry.key == "redis_auth") {
      pool_.client_password = pool_.server_password = value;
    } else if (entry.key == "redis_db") {
      read_database(value, line);
    } else {
      read_other(entry.key, value, line);
    }
  }

  void read_listener(const std::string& value, std::size_t line) {
    has_listener_ = true;
    if (value.starts_with('/')) {
      notes_.remark(line, "listen: cleave has no unix sockets for clients (" + value +
                              "); they must connect to the TCP address of 'listeners'");
      return;
    }
    const Result<std::string> address = read_address(value);
    if (address) pool_.listener = *address;
    if (!address) notes_.refuse(line, "listen: " + address.error().message);
  }

  void read_distribution(const std::string& value, std::size_t line) {
    if (value == "ketama" || value == "modula") {
      pool_.scheme.name = "twemproxy-" + value;
    } else if (value == "random") {
      notes_.refuse(line,
                    "distribution: random sends each request to any server, so no key has a "
                    "place; choose ketama or modula, with data that fits");
    } else {
      notes_.refuse(line, "distribution: '" + value + "' is unknown");
    }
  }

  bool read_flag(const std::string& key, const std::string& value, std::size_t line) {
    if (value != "true" && value != "false")
      notes_.refuse(line, key + ": want true or false, got '" + value + "'");
    return value == "true";
  }

  void read_database(const std::string& value, std::size_t line) {
    const auto number = to_number<std::uint32_t>(value);
    if (!number) notes_.refuse(line, "redis_db: '" + value + "' is no number");
    if (number && *number != 0) {
      notes_.refuse(line, "redis_db: " + value +
                              ": cleave uses database 0 only; move the data there first (SELECT " +
                              value + ", then MOVE or COPY)");
    }
  }

  // Directives that place no key.
  void read_other(const std::string& key, const std::string& value, std::size_t line) {
    struct KnownDirective {
      std::string_view key;
      std::string_view text;
    };
    static constexpr std::array<KnownDirective, 9> kKnown = {
        {{"timeout", "cleave has limits.request_timeout_ms"},
         {"backlog", "the queue of the listener has the system's length"},
         {"client_connections", "cleave has limits.clients_max"},
         {"preconnect", "cleave connects to every server at once"},
         {"server_connections", "cleave has one pipelined connection a worker and server"},
         {"server_retry_timeout", "cleave has limits.reconnect_first_ms and reconnect_max_ms"},
         {"server_failure_limit", "cleave has limits.probe_failures_max"},
         {"tcpkeepalive", "cleave probes every server by itself"},
         {"reuseport", "cleave has 'workers' in one process instead"}}};
    const auto known = std::ranges::find(kKnown, key, &KnownDirective::key);
    if (known == kKnown.end()) {
      notes_.refuse(line, "'" + key +
                              "' is unknown, and may place keys; twemproxy 0.5.0 does not "
                              "have it");
      return;
    }
    notes_.remark(line, key + ": " + value + " is not taken over: " + std::string(known->text));
  }

  void read_servers(const YAML::Node& servers) {
    if (!servers.IsSequence())
      return notes_.refuse(line_of(servers), "servers: want a list of host:port:weight [name]");
    for (const YAML::Node& server : servers) read_server(server);
  }

  void read_server(const YAML::Node& server) {
    const std::size_t line = line_of(server);
    const std::string text = text_of(server);
    if (text.starts_with('/')) {
      return notes_.refuse(
          line, "server " + text + ": cleave reaches servers by TCP only; give it a port");
    }
    const auto parts = cut_apart(text);
    if (!parts) return notes_.refuse(line, "server '" + text + "': want host:port:weight [name]");
    const Result<std::string> address = join_address(parts->host, parts->port);
    if (!address) return notes_.refuse(line, "server " + address.error().message);
    const auto weight = to_number<std::uint32_t>(parts->weight);
    if (!weight || *weight == 0)
      return notes_.refuse(line, "server '" + text + "': want a weight of at least 1");
    pool_.nodes.push_back({hashed_name(*parts), *weight, {*address}});
  }

  std::string hashed_name(const ServerText& parts) {
    if (parts.name.empty()) {
      const std::string host(parts.host);
      return parts.port == ring::kMemcachedPort ? host : host + ":" + std::string(parts.port);
    }
    if (parts.name.ends_with(":11211")) names_with_default_port_ = true;
    return std::string(parts.name);
  }

  void judge_protocol() {
    if (redis_) {
      pool_.kind = Kind::kStore;
      return;
    }
    notes_.remark(0,
                  "redis: false: this pool speaks memcached, and cleave speaks Redis: keys are "
                  "placed the same, but these servers can be served only once they are Redis");
  }

  void judge_ejection() {
    if (eject_line_ == 0) return;
    if (redis_) {
      notes_.refuse(eject_line_,
                    "auto_eject_hosts: true moves the keys of a failing server to others, which a "
                    "store must not do: they come back with old values; set it to false and "
                    "import again (cleave answers an error for such keys until the server is "
                    "back)");
      return;
    }
    notes_.remark(eject_line_,
                  "auto_eject_hosts: cleave ejects no server: its keys are errors until it is "
                  "back, and nobody's place changes");
  }

  Notes notes_;
  Pool pool_;
  bool redis_ = false;
  bool has_listener_ = false;
  bool names_with_default_port_ = false;
  std::size_t eject_line_ = 0;  // 0: off
};

}  // namespace

FoundPools read_twemproxy(std::string_view text, const std::string& file) {
  const Result<YAML::Node> document = load_yaml(text, file);
  if (!document) return std::unexpected(document.error());
  std::vector<FoundPool> pools;
  for (const YamlEntry& entry : entries_of(*document)) {
    pools.push_back({entry.key, PoolReader(file, entry.key).read(entry.value)});
  }
  return pools;
}

}  // namespace cleave::convert
