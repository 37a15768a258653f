// HAProxy 2.6: a frontend and a backend. It hashes ids, which are the positions of the nodes, from
// 1; names may be any.
#include "base/ascii.h"
#include "convert/write/writers.h"

namespace cleave::convert {
namespace {

std::string hash_type(const Pool& pool) {
  const std::string method = lowered(option_or(pool, "method", "map-based"));
  const std::string hash = lowered(option_or(pool, "hash", ""));
  const std::string avalanche = lowered(option_or(pool, "avalanche", ""));
  // Bare consistent has sdbm with avalanche.
  const bool bare = method == "consistent" && hash.empty();
  const bool avalanches = avalanche.empty() ? bare
                                            : avalanche == "true" || avalanche == "yes" ||
                                                  avalanche == "on" || avalanche == "1";
  return method + " " + (hash.empty() ? "sdbm" : hash) + (avalanches ? " avalanche" : "");
}

}  // namespace

Result<std::string> write_haproxy(const Pool& pool) {
  const bool parameter = option_or(pool, "place_empty", "false") == "true";
  std::string text =
      export_head(pool, Peer::kHaproxy) + "# The key is taken from " +
      (parameter ? "the URL's parameter key" : "the header X-Key") +
      "; write there what your requests have.\n"
      "defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n"
      "frontend clients\n  bind " +
      listener_or_usual(pool) + "\n  default_backend " + pool.name + "\nbackend " + pool.name +
      "\n  balance " + (parameter ? "url_param key" : "hdr(x-key)") + "\n  hash-type " +
      hash_type(pool) + "\n";
  for (std::uint32_t i = 0; i < pool.nodes.size(); ++i) {
    const PoolNode& node = pool.nodes[i];
    const std::uint32_t position = node.position.value_or(i);
    text += "  server " + node.name + " " + node.members.front() + " id " +
            std::to_string(position + 1) + " weight " + std::to_string(node.weight) + "\n";
  }
  return text;
}

}  // namespace cleave::convert
