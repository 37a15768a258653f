// ClientFacts: what local commands read and change of a client.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace cleave::proxy {

struct ClientFacts {
  std::uint64_t id = 0;  // unique in the process
  std::string peer;      // "127.0.0.1:50412"
  std::string name;      // by CLIENT SETNAME
  Instant since{0};
  bool authenticated = false;
  bool multi_refused = false;  // since then nothing is executed until EXEC or DISCARD
};

}  // namespace cleave::proxy
