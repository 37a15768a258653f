#include "sim/world/ownership_checker.h"

#include <algorithm>

#include "base/own_names.h"

namespace cleave::sim {
namespace {

constexpr std::size_t kForeignCommandsMax = 5;  // one broken rule breaks it again and again

constexpr std::string_view kDriverWrites[] = {"RESTORE",   "UNLINK", "DEL",  "RENAME",
                                              "PEXPIREAT", "HSET",   "HDEL", "SADD",
                                              "SREM",      "ZADD",   "ZREM"};

}  // namespace

void OwnershipChecker::see(const ring::RingView& view, NodeId node,
                           std::span<const std::string> args, std::string_view connection) {
  if (!connection.starts_with(kConnectionPrefix) || args.size() < 2) return;
  const bool driver = is_driver(connection);
  if (driver && std::ranges::find(kDriverWrites, args[0]) == std::end(kDriverWrites)) return;
  if (tokens_.empty())
    for (const std::string& key : keys_) tokens_[key] = view.token_of(key);
  for (const std::string& arg : args.subspan(1)) {
    const auto token = tokens_.find(arg);
    if (token == tokens_.end() || (view.owner(token->second) == node) != driver) continue;
    if (violations_.size() >= kForeignCommandsMax) return;
    violations_.push_back("owner: " + args[0] + " " + arg + " of " + std::string(connection) +
                          " ran at node " + std::to_string(node.value()) + ", which " +
                          (driver ? "owns" : "does not own") + " the key at epoch " +
                          std::to_string(view.epoch().value()));
  }
}

}  // namespace cleave::sim
