// Real sockets on loopback, and peers that behave badly.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "core/base/random.h"
#include "core/http/http_listener.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr int kLongMs = 60'000;
constexpr std::size_t kLarge = 32u << 20;  // more than the system holds between two sockets

HttpReply answer(std::string_view path) {
  if (path == "/large") return {.body = std::string(kLarge, 'x')};
  if (path == "/hello") return {.body = "hello\n"};
  return {.status = 404, .body = "nothing here\n"};
}

std::unique_ptr<HttpListener> listen(const HttpListener::Limits& limits = {}) {
  return HttpListener::open("127.0.0.1:0", answer, limits).value();
}

/// A peer that does as it is told.
class Peer final {
 public:
  explicit Peer(const HttpListener& listener) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(listener.port());
    TEST_ASSERT_EQUAL_INT(0, ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address));
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() { ::close(socket_); }

  /// False when the other side has closed.
  bool send(std::string_view bytes) const {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }
  void close_writing() const { ::shutdown(socket_, SHUT_WR); }
  /// Everything until the other side closes; fails the test when it does not.
  [[nodiscard]] std::string receive_all() const {
    std::string all;
    char bytes[4096];
    while (true) {
      pollfd waiting{socket_, POLLIN, 0};
      if (::poll(&waiting, 1, kLongMs) != 1) TEST_FAIL_MESSAGE("the listener does not close");
      const auto count = ::recv(socket_, bytes, sizeof bytes, 0);
      if (count <= 0) return all;
      all.append(bytes, static_cast<std::size_t>(count));
    }
  }
  [[nodiscard]] std::string ask(std::string_view request) const {
    (void)send(request);
    return receive_all();
  }

 private:
  int socket_;
};

constexpr std::string_view kHello = "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n";

void assert_serves(const HttpListener& listener) {
  ASSERT_CONTAINS(Peer(listener).ask(kHello), "\r\n\r\nhello\n");
}

}  // namespace

TEST("A request is answered, whole or byte by byte") {
  const auto listener = listen();
  assert_serves(*listener);
  const Peer slow(*listener);
  for (const char letter : kHello) TEST_ASSERT_TRUE(slow.send({&letter, 1}));
  ASSERT_CONTAINS(slow.receive_all(), "HTTP/1.1 200 OK");
  ASSERT_CONTAINS(Peer(*listener).ask("GET /other HTTP/1.1\r\nHost: x\r\n\r\n"), "HTTP/1.1 404 Not Found");
}

TEST("A large answer arrives whole, also for a peer that sends more than it should") {
  const auto listener = listen();
  const Peer peer(*listener);
  (void)peer.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  (void)peer.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
  TEST_ASSERT_TRUE(peer.receive_all().size() > kLarge);
}

TEST("A line that is too long is refused before it is read to its end") {
  const auto listener = listen();
  ASSERT_CONTAINS(Peer(*listener).ask("GET /" + std::string(100'000, 'x')), "HTTP/1.1 431");
  ASSERT_CONTAINS(
      Peer(*listener).ask("GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(5000, 'y') + "\r\n\r\n"),
      "HTTP/1.1 431");
  assert_serves(*listener);
}

TEST("Garbage, silence and half requests cost the others nothing") {
  const auto listener = listen();
  Random random(7);
  for (int i = 0; i < 50; ++i) {
    std::string garbage(1 + random.below(3000), ' ');
    for (char& c : garbage) c = static_cast<char>(random.below(256));
    const Peer peer(*listener);
    (void)peer.send(garbage);
    (void)peer.send("\r\n\r\n");
    peer.close_writing();
    (void)peer.receive_all();
  }
  const Peer silent(*listener);
  const Peer half(*listener);
  (void)half.send("GET /hel");
  assert_serves(*listener);
  // Peers that go away before they are answered.
  for (int i = 0; i < 20; ++i) (void)Peer(*listener).send(kHello);
  assert_serves(*listener);
}

TEST("Who drips bytes is cut off when the time is over") {
  const auto listener = listen({.time = std::chrono::milliseconds(200)});
  const Peer slow(*listener);
  (void)slow.send("GET /hello HT");
  TEST_ASSERT_EQUAL_STRING("", slow.receive_all().c_str());
  const Peer reader(*listener);  // asks for much and reads nothing for too long
  (void)reader.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  const Peer after(*listener);  // whose time is over later
  TEST_ASSERT_EQUAL_STRING("", after.receive_all().c_str());
  TEST_ASSERT_TRUE(reader.receive_all().size() < kLarge);
  assert_serves(*listener);
}

TEST("When all places are taken by the slow, who comes next is still served") {
  const auto listener = listen({.connections = 4, .time = std::chrono::minutes(10)});
  std::vector<std::unique_ptr<Peer>> slow;
  for (int i = 0; i < 40; ++i) {
    slow.push_back(std::make_unique<Peer>(*listener));
    (void)slow.back()->send("GET /");
  }
  assert_serves(*listener);
  TEST_ASSERT_EQUAL_STRING("", slow[0]->receive_all().c_str());
}

TEST("An address is checked, and one that is taken is named") {
  for (const char* wrong :
       {"", ":", "localhost", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "example.org:80",
        "1.2.3:80", "[::1]", "[nonsense]:80", "::1:80", "127.0.0.1:-1"}) {
    const auto opened = HttpListener::open(wrong, answer, {});
    TEST_ASSERT_FALSE_MESSAGE(opened.ok(), wrong);
    ASSERT_CONTAINS(opened.error().message, "is not an address to listen on");
  }
  const auto listener = listen();
  TEST_ASSERT_TRUE(listener->on_loopback());
  const auto again = HttpListener::open("127.0.0.1:" + std::to_string(listener->port()), answer, {});
  TEST_ASSERT_FALSE(again.ok());
  ASSERT_CONTAINS(again.error().message, "cannot listen on 127.0.0.1:" + std::to_string(listener->port()));
  const auto everywhere = HttpListener::open("0.0.0.0:0", answer, {});
  ASSERT_OK(everywhere);
  TEST_ASSERT_FALSE((*everywhere)->on_loopback());
  TEST_ASSERT_TRUE(HttpListener::open("0", answer, {}).value()->on_loopback());
}

TEST("A listener ends at once, whatever its peers do") {
  auto listener = listen({.time = std::chrono::minutes(10)});
  const Peer silent(*listener);
  const Peer half(*listener);
  (void)half.send("GET");
  listener.reset();
  TEST_ASSERT_EQUAL_STRING("", silent.receive_all().c_str());
}
