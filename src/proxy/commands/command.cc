#include "proxy/commands/command.h"

namespace cleave::proxy {

void Command::reset() {
  constexpr std::size_t kKeptBytes = 4'096;
  kind = Kind::kKeyed;
  node = NodeId{};
  writes = false;
  whole_bytes = false;
  retried = false;
  script = false;
  subtracted = false;
  replies = 1;
  asker = nullptr;
  link = nullptr;
  pipe = nullptr;
  bytes.clear();
  if (bytes.capacity() > kKeptBytes) bytes.shrink_to_fit();
  keys.clear();
  if (keys.capacity() > kKeptBytes / sizeof(KeyRef)) keys.shrink_to_fit();
  places.clear();
  if (places.capacity() > kKeptBytes / sizeof(std::uint32_t)) places.shrink_to_fit();
  elements.reset();
  request_bytes = 0;
  command_ns = heat::kCommandNsDefault;
}

}  // namespace cleave::proxy
