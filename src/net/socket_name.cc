#include "net/socket_name.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace cleave::net {

Result<Address> peer_name(int fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0)
    return fail(Code::kUnavailable, "new connection: " + std::generic_category().message(errno));
  std::array<char, INET6_ADDRSTRLEN> text{};
  std::uint16_t port = 0;
  if (name.ss_family == AF_INET6) {
    sockaddr_in6 six{};
    std::memcpy(&six, &name, sizeof(six));
    ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    port = ntohs(six.sin6_port);
  } else {
    sockaddr_in four{};
    std::memcpy(&four, &name, sizeof(four));
    ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
    port = ntohs(four.sin_port);
  }
  return Address{.host = text.data(), .port = port};
}

}  // namespace cleave::net
