// A pool as the configuration of another proxy has it, in cleave's terms.
//
// Threads: plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ring/schemes/placement.h"

namespace cleave::convert {

// Whose configuration it is. A Codis slot table can be read, not written.
enum class Peer : std::uint8_t { kTwemproxy, kNginx, kHaproxy, kEnvoy, kCodis };

// "twemproxy", "nginx", "haproxy", "envoy", "codis". Errors of the inverse: kInvalid, names the
// text and what there is.
std::string_view to_string(Peer peer);
Result<Peer> parse_peer(std::string_view name);

// Whether a miss is a loss: `kind` of docs/formats/config.md.
enum class Kind : std::uint8_t { kStore, kCache };

// A server, or a group of them.
struct PoolNode {
  std::string name;
  std::uint32_t weight = 1;
  std::vector<std::string> members;  // "host:port", the primary first; empty: the file has none
  std::string hash_key = {};         // what is hashed; empty: the name
  std::string rack = {};             // of the primary; peers have none
  std::optional<std::uint32_t> position = {};  // as in ring::PlacedNode

  friend bool operator==(const PoolNode&, const PoolNode&) = default;
};

// Something of the peer's file that has no counterpart, for the operator.
struct Remark {
  std::size_t line = 0;  // of the peer's file, from 1; 0: all of it
  std::string text;

  friend bool operator==(const Remark&, const Remark&) = default;
};

struct Pool {
  std::string name;
  Kind kind = Kind::kStore;
  ring::SchemeSpec scheme;
  std::vector<PoolNode> nodes;  // in the order that the scheme wants
  std::string listener;         // "host:port" where clients connect; empty: the file has none
  std::string client_password;  // that clients log in with; empty: none
  std::string server_user;      // that the proxy logs in with at the servers; empty: the default
  std::string server_password;
  std::vector<Remark> remarks;
};

// What the scheme hashes of a node.
const std::string& hashed_name(const PoolNode& node);

// The nodes as `ring::place` wants them.
std::vector<ring::PlacedNode> placed_nodes(const Pool& pool);

}  // namespace cleave::convert
