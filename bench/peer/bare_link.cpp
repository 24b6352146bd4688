#include "bench/peer/bare_link.h"

#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace aflguard::bench {
namespace {

struct Socket {
  int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Socket() = default;
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (file >= 0) ::close(file);
  }
};

}  // namespace

Result<double> send_over_bare_link(const std::string& host, std::uint16_t port, std::size_t bytes) {
  const Socket socket;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  ::inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  if (::connect(socket.file, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    return unavailable("no connection to " + host + ": " + std::strerror(errno));
  }
  const std::vector<char> data(bytes, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t sent = 0; sent < bytes;) {
    const ssize_t taken = ::send(socket.file, data.data() + sent, bytes - sent, MSG_NOSIGNAL);
    if (taken <= 0) return unavailable(std::string("the bare link broke: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(taken);
  }
  char answer = 0;
  if (::recv(socket.file, &answer, 1, 0) != 1) return unavailable("the bare link gave no answer");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace aflguard::bench
