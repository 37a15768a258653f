// The coordinator that a configuration names.
//
// Threads: those of coord/register.h.
#pragma once

#include <memory>
#include <string>

#include "app/config/config.h"
#include "coord/register.h"
#include "net/loop.h"

namespace cleave::app {

// That a service is away is no error here, but of each call. Errors: kUnavailable (SQLite's file
// cannot be had), kInvalid (an endpoint, a certificate).
Result<std::unique_ptr<coord::Register>> open_coordinator(net::Loop& loop,
                                                          const CoordinationConfig& config,
                                                          const std::string& pool);

// Where it is, for a person: "the file /data/cleave.db", "etcd http://10.0.0.1:2379 under /p".
std::string describe(const CoordinationConfig& config);

}  // namespace cleave::app
