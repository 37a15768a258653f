// The configuration of `cleave serve`: what the YAML file says, checked and typed.
//
// The file's form is a contract (docs/formats/config.md). Everything in it that is unknown, twice
// there, of the wrong type or out of range is an error with line and column, because a setting that
// is silently ignored is found out on the day it matters. After the first start the ring document
// is the truth for nodes and weights; the file only seeds it.
//
// Threads: plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/webhook.h"
#include "app/log.h"
#include "backend/pipe.h"
#include "balance/input/constants.h"
#include "balance/input/daily_windows.h"
#include "base/limits.h"
#include "base/result.h"
#include "net/loop.h"
#include "ring/document/document.h"

namespace cleave::app {

// Where clients connect.
struct ListenerConfig {
  net::Address address;
  std::string pool;
  std::string password;  // empty: clients need none
};

// The HTTP interface, for people and for the other routers.
struct AdminConfig {
  net::Address address{.host = "127.0.0.1", .port = 7380};
  std::string token;      // empty: none needed; the same on every router of a pool
  std::string advertise;  // "host:port" that other routers are told; empty: `address`
  // Names by which people call it besides; requests under any other name are refused.
  std::vector<std::string> hosts;
};

// Whether a miss is a loss.
enum class PoolKind : std::uint8_t { kStore, kCache };

// One ring with its servers.
struct PoolConfig {
  std::string name;
  PoolKind kind = PoolKind::kStore;
  ring::SchemeSpec scheme = {.name = "vnode"};
  std::vector<ring::Node> nodes;     // ids are given by the document, not here
  backend::Credentials credentials;  // how we log in at the servers
};

// What keeps the ring document: a file for routers of one machine, or a service for a fleet.
enum class CoordinatorKind : std::uint8_t { kSqlite, kEtcd, kZookeeper };

// Where the ring document lives.
struct CoordinationConfig {
  CoordinatorKind kind = CoordinatorKind::kSqlite;
  std::string path = "cleave.db";      // SQLite's file
  std::string saved_rings;             // folder of the rings that were seen; empty: none are saved
  std::vector<std::string> endpoints;  // etcd: URLs; ZooKeeper: "host:port"
  std::string prefix;                  // of our keys there
  std::string user;                    // empty: no log-in
  std::string password;
  std::string ca_file;  // etcd over https: PEM; empty: the system's authorities
  std::string certificate_file;
  std::string key_file;
};

// What the balancer may do on its own, and when.
struct BalanceConfig {
  ring::Mode mode = ring::Mode::kAuto;        // seeds the document, which is the truth afterwards
  std::vector<balance::DailyWindow> windows;  // none: at any time
  balance::Constants constants;
  std::optional<net::Url> webhook;  // where advice is sent to
};

// All of it.
struct Config {
  std::vector<ListenerConfig> listeners;
  AdminConfig admin;
  std::uint32_t workers = 1;
  PoolConfig pool;  // of this version exactly one
  CoordinationConfig coordination;
  std::string history_path;  // SQLite file of past heat and decisions; of this router alone
  BalanceConfig balance;
  Limits limits;
  LogFormat log_format = LogFormat::kText;
};

// Errors: kInvalid, "FILE:LINE:COLUMN: where: what is allowed, what was found". `file` is only for
// messages.
Result<Config> parse_config(std::string_view text, const std::string& file);

// The same from a file, with paths as `resolve_paths` gives them. Errors besides: kNotFound when it
// cannot be read.
Result<Config> load_config(const std::string& file);

// Relative paths in the configuration start at the folder of its file, wherever the program was
// started: the same file must not find another ring from another folder. Errors: kInvalid, where
// what was meant lies in the working directory, as older versions looked there.
Result<void> resolve_paths(Config& config, const std::string& file);

// True when only this machine can connect to the address.
bool is_loopback(const net::Address& address);

}  // namespace cleave::app
