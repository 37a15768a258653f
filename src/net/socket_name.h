// The address at the other end of a connected socket. Private to net.
#pragma once

#include "base/result.h"
#include "net/loop.h"

namespace cleave::net {

// Errors: kUnavailable (the peer is gone already).
Result<Address> peer_name(int fd);

}  // namespace cleave::net
