// What `cleave status` prints: the answer of GET /status for people, at most 80 columns wide. What
// the router did not tell is "unknown", never 0.
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <string>

#include "app/admin_client.h"

namespace cleave::app {

// How much is told.
enum class StatusDetail : std::uint8_t {
  kUsual,
  kServers,  // also where each server is, its version and how fast it answers
};

// `status`: with "ring", that of GET /ring, each cut is told too.
std::string status_text(const Json& status, StatusDetail detail = StatusDetail::kUsual);

}  // namespace cleave::app
