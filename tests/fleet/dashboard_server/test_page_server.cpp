// The server alone: nobody is behind it. With a broker and the real program: tests/tools/aflguard.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/dashboard_server/page_server.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;

namespace {

/// Sends it, and reads until the other side ends; at most a minute.
std::string visit(std::uint16_t port, const std::string& bytes) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{60, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  TEST_ASSERT_EQUAL_INT(0, ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address));
  TEST_ASSERT_EQUAL_INT(static_cast<int>(bytes.size()),
                        ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  std::string answer;
  char letter = 0;
  while (::recv(socket, &letter, 1, 0) == 1) answer += letter;
  ::close(socket);
  return answer;
}

struct Served {
  std::unique_ptr<PageServer> server;

  Served() {
    auto started = PageServer::start({.port = 0, .page = "<!doctype html>the page", .connect = [] {
                                        return Result<BrokerStream>(unavailable("no broker answers"));
                                      }});
    ASSERT_OK(started);
    server = std::move(*started);
  }
  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(server->port()); }
  [[nodiscard]] std::string get(const std::string& line, const std::string& host_name,
                                const std::string& more = {}) const {
    return visit(server->port(),
                 line + " HTTP/1.1\r\nHost: " + host_name + "\r\nConnection: close\r\n" + more + "\r\n");
  }
};

const std::string kUpgrade =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mqtt\r\n";

}  // namespace

TEST("The page is served under this machine's name, and nothing else is") {
  const Served served;
  const std::string page = served.get("GET /", served.host());
  TEST_ASSERT_TRUE_MESSAGE(page.starts_with("HTTP/1.1 200"), page.c_str());
  ASSERT_CONTAINS(page, "<!doctype html>the page");
  ASSERT_CONTAINS(served.get("GET /other", served.host()), "HTTP/1.1 404");
  ASSERT_CONTAINS(served.get("POST /", served.host()), "HTTP/1.1 405");
  ASSERT_CONTAINS(served.get("GET /", "evil.example.org"), "HTTP/1.1 403");
}

TEST("A WebSocket of another page is refused, and one of this page hears why there is no broker") {
  const Served served;
  ASSERT_CONTAINS(served.get("GET /mqtt", served.host(), "Origin: http://evil.example.org\r\n" + kUpgrade),
                  "HTTP/1.1 403");
  const std::string answer =
      served.get("GET /mqtt", served.host(), "Origin: http://" + served.host() + "\r\n" + kUpgrade);
  ASSERT_CONTAINS(answer, "HTTP/1.1 502");
  ASSERT_CONTAINS(answer, "no broker answers");
}

TEST("A port that is taken is said, and free again when its server is gone") {
  std::uint16_t port = 0;
  {
    const Served served;
    port = served.server->port();
    const auto second = PageServer::start({.port = port, .page = "x", .connect = {}});
    TEST_ASSERT_FALSE(second.ok());
    ASSERT_CONTAINS(testing::message_of(second), std::to_string(port));
  }
  ASSERT_OK(PageServer::start({.port = port, .page = "x", .connect = {}}));
}
