// twemproxy 0.5.0: one pool. A server is named where what is hashed is not its address. An IPv6
// host has no brackets, which twemproxy would ask the name service for.
#include "base/ascii.h"
#include "convert/pool/address.h"
#include "convert/write/cleave_yaml.h"
#include "convert/write/writers.h"
#include "ring/schemes/peers/ketama.h"

namespace cleave::convert {
namespace {

Result<std::string> server_line(const Pool& pool, const PoolNode& node) {
  const std::string address = without_brackets(node.members.front());
  const std::string_view by_address = ring::without_port(address, ring::kMemcachedPort);
  // Without the option `named`, the scheme takes names for addresses.
  const std::string_view hashed = option_or(pool, "named", "false") == "true"
                                      ? std::string_view(hashed_name(node))
                                      : ring::without_port(hashed_name(node), ring::kMemcachedPort);
  std::string text = address + ":" + std::to_string(node.weight);
  if (hashed != by_address) {
    if (hashed.contains(' ')) {
      return fail(Code::kInvalid,
                  "node '" + node.name + "': a name of twemproxy has no blanks, and it is hashed");
    }
    text += " " + std::string(hashed);
  }
  return "   - " + yaml_quoted(text) + "\n";
}

Result<std::string> redis_auth_line(const Pool& pool) {
  if (!pool.server_user.empty())
    return fail(Code::kInvalid, "servers.user: twemproxy logs in without a user name");
  if (pool.client_password != pool.server_password) {
    return fail(Code::kInvalid,
                "the password of clients is not that of the servers, and twemproxy has one for "
                "both");
  }
  if (pool.server_password.empty()) return std::string();
  return "  redis_auth: " + yaml_quoted(pool.server_password) + "\n";
}

}  // namespace

Result<std::string> write_twemproxy(const Pool& pool) {
  const Result<std::string> password = redis_auth_line(pool);
  if (!password) return password;
  std::string text = export_head(pool, Peer::kTwemproxy) + yaml_scalar(pool.name) +
                     ":\n  listen: " + yaml_quoted(without_brackets(listener_or_usual(pool))) +
                     "\n  hash: " + lowered(option_or(pool, "hash", "fnv1a_64")) + "\n";
  if (const std::string tag = option_or(pool, "hash_tag", ""); !tag.empty())
    text += "  hash_tag: " + yaml_quoted(tag) + "\n";
  text += "  distribution: " + pool.scheme.name.substr(sizeof("twemproxy")) +
          "\n  auto_eject_hosts: false\n  redis: true\n" + *password + "  servers:\n";
  for (const PoolNode& node : pool.nodes) {
    const Result<std::string> line = server_line(pool, node);
    if (!line) return line;
    text += *line;
  }
  return text;
}

}  // namespace cleave::convert
