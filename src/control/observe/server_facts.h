// What a look at a server says, in the terms of the machines that decide (migrate/). Threads:
// values.
#pragma once

#include <string>

#include "backend/store.h"
#include "migrate/migration.h"

namespace cleave::control {

// `mark`: of this pool.
inline migrate::ServerFacts server_facts(const backend::StoreIdentity& seen,
                                         const std::string& mark) {
  return {.incarnation = seen.incarnation,
          .primary = seen.primary,
          .marked = seen.mark == mark,
          .server = seen.note.server,
          .clock_ms = seen.clock_ms,
          .replicas = seen.replicas,
          .offset = seen.offset,
          .former_replication_id = seen.former_replication_id,
          .former_offset = seen.former_offset};
}

}  // namespace cleave::control
