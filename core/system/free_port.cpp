#include "core/system/free_port.h"

#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

#include "core/system/file_descriptor.h"

namespace aflguard {

Result<std::uint16_t> free_port(const std::string& address) {
  sockaddr_in place{};
  place.sin_family = AF_INET;
  if (::inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1) {
    return invalid_input("'" + address + "' is not an IPv4 address");
  }
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t size = sizeof place;
  if (!socket.valid() || ::bind(socket.get(), reinterpret_cast<sockaddr*>(&place), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size) != 0) {
    return unavailable("no free port on " + address + ": " + std::strerror(errno));
  }
  return ntohs(place.sin_port);
}

Result<std::uint16_t> free_loopback_port() {
  return free_port("127.0.0.1");
}

}  // namespace aflguard
