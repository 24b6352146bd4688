#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/transport_mqtt/socket_tuning.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

/// A listener and one connection to it.
struct Connection {
  int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  int client = ::socket(AF_INET, SOCK_STREAM, 0);
  std::uint16_t port = 0;

  explicit Connection(int send_buffer) {
    // As on a board: little room, and no growth by itself.
    ::setsockopt(client, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    TEST_ASSERT_EQUAL_INT(0, ::bind(listener, raw, size));
    TEST_ASSERT_EQUAL_INT(0, ::listen(listener, 1));
    TEST_ASSERT_EQUAL_INT(0, ::getsockname(listener, raw, &size));
    port = ntohs(address.sin_port);
    TEST_ASSERT_EQUAL_INT(0, ::connect(client, raw, size));
  }
  Connection(const Connection&) = delete;
  ~Connection() {
    ::close(client);
    ::close(listener);
  }
  [[nodiscard]] int option(int level, int name) const {
    int value = 0;
    socklen_t size = sizeof value;
    TEST_ASSERT_EQUAL_INT(0, ::getsockopt(client, level, name, &value, &size));
    return value;
  }
};

}  // namespace

TEST("Connections to the broker's port send at once and have room for what is on its way") {
  constexpr int kWanted = 128 << 10;  // below what any system refuses
  const Connection broker(4096);
  const Connection other(4096);
  const int other_before = other.option(SOL_SOCKET, SO_SNDBUF);
  TEST_ASSERT_EQUAL_INT(1, tune_connections(broker.port, kWanted));
  TEST_ASSERT_EQUAL_INT(1, broker.option(IPPROTO_TCP, TCP_NODELAY));
  TEST_ASSERT_TRUE(broker.option(SOL_SOCKET, SO_SNDBUF) >= kWanted);
  TEST_ASSERT_EQUAL_INT(0, other.option(IPPROTO_TCP, TCP_NODELAY));
  TEST_ASSERT_EQUAL_INT(other_before, other.option(SOL_SOCKET, SO_SNDBUF));
}

TEST("A send buffer that is large already is left alone") {
  const Connection broker(160 << 10);
  const int before = broker.option(SOL_SOCKET, SO_SNDBUF);
  TEST_ASSERT_EQUAL_INT(1, tune_connections(broker.port, 64 << 10));
  TEST_ASSERT_EQUAL_INT(before, broker.option(SOL_SOCKET, SO_SNDBUF));
}

TEST("Where there is no connection, nothing happens") {
  TEST_ASSERT_EQUAL_INT(0, tune_connections(1, 64 << 10));
}
