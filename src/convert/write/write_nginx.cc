// nginx 1.22: one upstream, with a server in front of it. nginx hashes addresses as they are
// written, so a node has to be called as its address.
#include "convert/write/writers.h"

namespace cleave::convert {

Result<std::string> write_nginx(const Pool& pool) {
  const bool consistent = option_or(pool, "method", "plain") == "consistent";
  std::string servers;
  for (const PoolNode& node : pool.nodes) {
    const std::string& name = hashed_name(node);
    if (name != node.members.front() && name + ":80" != node.members.front()) {
      return fail(Code::kInvalid, "node '" + node.name + "' is at " + node.members.front() +
                                      ": nginx hashes addresses, so keys stay where they are only "
                                      "if a node is called as its address");
    }
    servers += "    server " + name + " weight=" + std::to_string(node.weight) + ";\n";
  }
  return export_head(pool, Peer::kNginx) +
         "# The key is taken from the header X-Key; write there what your requests have.\n"
         "events {}\nhttp {\n  upstream " +
         pool.name + " {\n    hash $http_x_key" + (consistent ? " consistent" : "") + ";\n" +
         servers + "  }\n  server {\n    listen " + listener_or_usual(pool) +
         ";\n    location / {\n      proxy_pass http://" + pool.name + ";\n    }\n  }\n}\n";
}

}  // namespace cleave::convert
