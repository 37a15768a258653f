// The coordinator that a configuration names.
//
// Threads: those of coord/register.h.
#pragma once

#include <memory>

#include "app/config.h"
#include "coord/register.h"
#include "net/loop.h"

namespace cleave::app {

// That a service is away is no error here, but of each call. Errors: kUnavailable (SQLite's file
// cannot be had), kInvalid (an endpoint, a certificate).
Result<std::unique_ptr<coord::Register>> open_coordinator(net::Loop& loop,
                                                          const CoordinationConfig& config,
                                                          const std::string& pool);

}  // namespace cleave::app
