// What keys live servers hold, by SCAN, and whether a ring finds them there: for `cleave assess`.
// Nothing is written to the servers.
//
// SCAN goes over a server's keys in an order that has nothing to do with their places on a ring, so
// what comes first is a fair sample.
//
// Threads: the main thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/monitor_sample.h"
#include "control/orders/status.h"
#include "ring/document/scheme_search.h"
#include "ring/placed/placed_ring.h"

namespace cleave::app {

// What one server holds.
struct ServerKeys {
  std::vector<std::string> keys;  // all, or the first that SCAN shows
  bool whole = false;
  std::vector<control::OtherDatabase> databases;  // that no client reaches through a router
  std::vector<control::ScriptCalls> scripts;
};

inline constexpr std::size_t kServerKeysMax = 20'000;  // of each server

// Of all servers at once. Errors: kUnavailable, names the server that could not be reached, or
// refused.
Result<std::vector<ServerKeys>> read_server_keys(const std::vector<MonitorTarget>& targets,
                                                 const backend::Credentials& credentials);

// How the keys fit a ring.
struct KeysFit {
  std::vector<control::StrayCount> nodes;  // owners of examples are NodeId{index + 1}
  std::uint64_t keys = 0;
  std::uint64_t elsewhere = 0;
  std::optional<ring::SchemeFit> better;  // a scheme that fits far better
};

// `names[0]` are the nodes as the scheme hashes them; the others are tried for other schemes.
// Errors: those of ring::place.
Result<KeysFit> fit_of(const std::vector<ServerKeys>& servers, const ring::SchemeSpec& scheme,
                       std::vector<ring::NamedNodes> names);

}  // namespace cleave::app
