#include "core/transport_mqtt/socket_tuning.h"

#include <cstdlib>
#include <filesystem>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace aflguard {
namespace {

/// Port of the other side; 0 when `file` is not a connection over IP.
std::uint16_t peer_port(int file) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(file, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

void tune(int file, int send_buffer_bytes) {
  const int on = 1;
  ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A buffer that the system has already made larger keeps growing by itself; a fixed one would not.
  int present = 0;
  socklen_t size = sizeof present;
  if (::getsockopt(file, SOL_SOCKET, SO_SNDBUF, &present, &size) == 0 && present / 2 < send_buffer_bytes) {
    ::setsockopt(file, SOL_SOCKET, SO_SNDBUF, &send_buffer_bytes, sizeof send_buffer_bytes);
  }
}

}  // namespace

int tune_connections(std::uint16_t port, int send_buffer_bytes) {
  std::error_code failed;
  int tuned = 0;
  for (std::filesystem::directory_iterator entry("/proc/self/fd", failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const int file = std::atoi(entry->path().filename().c_str());
    if (peer_port(file) != port) continue;
    tune(file, send_buffer_bytes);
    ++tuned;
  }
  return tuned;
}

}  // namespace aflguard
