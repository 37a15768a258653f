#include "app/serve/coordinator.h"

#include "app/entropy.h"
#include "coord/etcd/etcd_register.h"
#include "coord/sqlite/sqlite_register.h"
#include "coord/zookeeper/zookeeper_register.h"

namespace cleave::app {

Result<std::unique_ptr<coord::Register>> open_coordinator(net::Loop& loop,
                                                          const CoordinationConfig& config,
                                                          const std::string& pool) {
  switch (config.kind) {
    case CoordinatorKind::kSqlite:
      return coord::open_sqlite_register(loop, {.path = config.path, .pool = pool});
    case CoordinatorKind::kEtcd:
      return coord::make_etcd(loop, {.endpoints = config.endpoints,
                                     .prefix = config.prefix,
                                     .user = config.user,
                                     .password = config.password,
                                     .ca_file = config.ca_file,
                                     .certificate_file = config.certificate_file,
                                     .key_file = config.key_file,
                                     .seed = random_bits()});
    case CoordinatorKind::kZookeeper:
      return coord::make_zookeeper(loop, {.servers = config.endpoints,
                                          .prefix = config.prefix,
                                          .user = config.user,
                                          .password = config.password,
                                          .seed = random_bits()});
  }
  return fail(Code::kInvalid, "no such coordinator");
}

std::string describe(const CoordinationConfig& config) {
  if (config.kind == CoordinatorKind::kSqlite) return "the file " + config.path;
  std::string text = config.kind == CoordinatorKind::kEtcd ? "etcd" : "ZooKeeper";
  for (const std::string& endpoint : config.endpoints) text += " " + endpoint;
  return text + " under " + config.prefix;
}

}  // namespace cleave::app
