#include "bench/peer/bare_link.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/socket.h>
#include <vector>

#include "core/system/file_descriptor.h"

namespace aflguard::bench {
Result<double> send_over_bare_link(const std::string& host, std::uint16_t port, std::size_t bytes) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return unavailable("no connection to " + host + ": " + std::strerror(errno));
  }
  const std::vector<char> data(bytes, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t sent = 0; sent < bytes;) {
    const ssize_t taken = ::send(socket.get(), data.data() + sent, bytes - sent, MSG_NOSIGNAL);
    if (taken <= 0) return unavailable(std::string("the bare link broke: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(taken);
  }
  char answer = 0;
  if (::recv(socket.get(), &answer, 1, 0) != 1) return unavailable("the bare link gave no answer");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace aflguard::bench
