// A port of loopback for the server that a test starts.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <random>
#include <set>

#include "net/unique_fd.h"

namespace cleave::net {

// One that was free a moment ago, in this process each time another one. It is below the range that
// the kernel gives to connections (from 32,768 on Linux): a port from there may be taken again
// before the server listens. For one thread.
inline std::uint16_t free_port() {
  static std::set<std::uint16_t> given;
  std::random_device random;
  std::uniform_int_distribution<std::uint16_t> candidates(10'000, 23'999);
  for (int tries = 0; tries < 1000; ++tries) {
    const std::uint16_t port = candidates(random);
    if (given.contains(port)) continue;
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
    const int on = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) continue;
    given.insert(port);
    return port;
  }
  ADD_FAILURE() << "no free port from 10000 to 23999";
  return 0;
}

}  // namespace cleave::net
