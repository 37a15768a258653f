#include "convert/write/export.h"

#include <algorithm>
#include <array>

#include "convert/write/cleave_yaml.h"
#include "convert/write/writers.h"

namespace cleave::convert {
namespace {

// A scheme, and who places keys so.
struct Speaker {
  std::string_view scheme;
  Peer peer;
};

constexpr std::array<Speaker, 7> kSpeakers = {{{"twemproxy-ketama", Peer::kTwemproxy},
                                               {"twemproxy-modula", Peer::kTwemproxy},
                                               {"nginx", Peer::kNginx},
                                               {"haproxy", Peer::kHaproxy},
                                               {"envoy-ring", Peer::kEnvoy},
                                               {"envoy-maglev", Peer::kEnvoy},
                                               {"envoy-redis", Peer::kEnvoy}}};

Result<void> check_scheme(Peer peer, const Pool& pool) {
  const std::string& scheme = pool.scheme.name;
  const auto speaker = std::ranges::find(kSpeakers, scheme, &Speaker::scheme);
  if (speaker == kSpeakers.end()) {
    return fail(Code::kInvalid, "pool '" + pool.name + "' is of scheme " + scheme +
                                    ", which no proxy that cleave can write for speaks; its keys "
                                    "would move");
  }
  if (speaker->peer == peer) return {};
  return fail(Code::kInvalid, "pool '" + pool.name + "' is of scheme " + scheme +
                                  ": its keys stay "
                                  "where they are with " +
                                  std::string(to_string(speaker->peer)) + " only, not with " +
                                  std::string(to_string(peer)));
}

}  // namespace

Result<void> check_exportable(const RingSummary& ring) {
  if (ring.moves > 0) {
    return fail(Code::kConflict,
                std::to_string(ring.moves) + " moves are under way; export when they have ended");
  }
  const auto draining =
      std::ranges::find(ring.nodes, ring::NodeState::kDraining, &ring::Node::state);
  if (draining != ring.nodes.end()) {
    return fail(Code::kConflict,
                "node '" + draining->name + "' is draining; export when it is empty and removed");
  }
  if (ring.cuts > 0) {
    return fail(Code::kConflict,
                std::to_string(ring.cuts) +
                    " cuts lie on the ring, and no other proxy has cuts; run `cleave flatten` "
                    "first, and export when its moves have ended");
  }
  return {};
}

Result<std::string> export_pool(Peer peer, const Pool& pool) {
  if (const auto fits = check_scheme(peer, pool); !fits) return std::unexpected(fits.error());
  if (const auto placed = ring::place(pool.scheme, placed_nodes(pool)); !placed)
    return std::unexpected(placed.error());
  if (const auto sayable = check_sayable(pool); !sayable) return std::unexpected(sayable.error());
  for (const PoolNode& node : pool.nodes) {
    if (node.members.empty()) return fail(Code::kInvalid, "node '" + node.name + "': no address");
  }
  switch (peer) {
    case Peer::kTwemproxy: return write_twemproxy(pool);
    case Peer::kNginx: return write_nginx(pool);
    case Peer::kHaproxy: return write_haproxy(pool);
    case Peer::kEnvoy: return write_envoy(pool);
    case Peer::kCodis: break;
  }
  return fail(Code::kInvalid, "cleave writes no slot table of Codis");
}

std::string option_or(const Pool& pool, std::string_view option, std::string_view otherwise) {
  const auto found = pool.scheme.options.find(option);
  return found == pool.scheme.options.end() ? std::string(otherwise) : found->second;
}

std::string listener_or_usual(const Pool& pool) {
  return pool.listener.empty() ? "127.0.0.1:6380" : pool.listener;
}

std::string export_head(const Pool& pool, Peer peer) {
  return "# Written by `cleave export " + std::string(to_string(peer)) + "` from pool '" +
         pool.name + "', scheme " + pool.scheme.name + ": keys are placed exactly as there.\n";
}

}  // namespace cleave::convert
