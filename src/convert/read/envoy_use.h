// What Envoy's listeners do with a cluster: that decides what of a request is hashed, and how.
// For envoy.cc.
//
// Pure. Threads: any.
#pragma once

#include <string>

#include "convert/pool/notes.h"
#include "convert/read/yaml_tree.h"

namespace cleave::convert {

struct EnvoyUse {
  bool redis = false;      // a redis_proxy leads to the cluster; else HTTP routes, or nothing
  bool hash_tags = false;  // settings.enable_hashtagging
  std::string listener;    // of redis_proxy, "host:port"; empty: not known
  std::string client_password;
};

// Looks through all listeners of the bootstrap for what leads to `cluster`, and notes what would
// make the hash another one than that of the key alone.
EnvoyUse use_of_cluster(const YAML::Node& bootstrap, const std::string& cluster, Notes& notes);

// An address of protobuf's core.v3.Address as "host:port". Errors: kInvalid, says what it is
// instead.
Result<std::string> envoy_address(const YAML::Node& address);

}  // namespace cleave::convert
