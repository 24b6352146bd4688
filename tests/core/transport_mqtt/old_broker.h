#pragma once

#include <arpa/inet.h>
#include <array>
#include <cstdint>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/base/check.h"

namespace aflguard::testing {

/// Just enough of a broker that knows MQTT 3.1.1 and nothing newer: it greets those and turns away the
/// others. Plain TCP on loopback, one client at a time.
class OldBroker final {
 public:
  OldBroker() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    check(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
              ::listen(listener_, 4) == 0 &&
              ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0,
          "the old broker listens");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  OldBroker(const OldBroker&) = delete;
  OldBroker& operator=(const OldBroker&) = delete;
  ~OldBroker() {
    ::shutdown(listener_, SHUT_RDWR);  // accept() returns
    thread_.join();
    ::close(listener_);
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  void serve() const {
    while (true) {
      const int client = ::accept(listener_, nullptr, nullptr);
      if (client < 0) return;
      greet(client);
      ::close(client);
    }
  }

  /// The protocol's level stands behind the packet's type, its length (one byte here) and the name "MQTT".
  static void greet(int client) {
    std::array<unsigned char, 512> packet{};
    if (::recv(client, packet.data(), 9, MSG_WAITALL) != 9) return;
    const bool known = packet[8] == 4;
    const std::array<unsigned char, 4> answer = {0x20, 2, 0, static_cast<unsigned char>(known ? 0 : 1)};
    if (::send(client, answer.data(), answer.size(), MSG_NOSIGNAL) != 4) return;
    while (known && ::recv(client, packet.data(), packet.size(), 0) > 0) {
    }
  }

  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace aflguard::testing
