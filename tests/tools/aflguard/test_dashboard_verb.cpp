// The real program with a real broker behind it, and visitors of every kind.
#include <arpa/inet.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"
#include "tests/support/test_broker.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using Json = nlohmann::json;

namespace {

/// TCP to loopback that waits at most a minute for anything.
class Visit final {
 public:
  Visit(std::uint16_t port, const std::string& bytes)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{60, 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    TEST_ASSERT_EQUAL_INT(0, ::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address));
    send(bytes);
  }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit() { ::close(socket_); }

  void send(const std::string& bytes) {
    TEST_ASSERT_EQUAL_INT(static_cast<int>(bytes.size()),
                          ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  /// Until `enough` has come, or the other side ends.
  static constexpr const char* kEverything = "\n\n nothing ends like this";
  std::string read(const std::string& enough = kEverything) {
    char letter = 0;
    while (!read_.ends_with(enough) && ::recv(socket_, &letter, 1, 0) == 1) read_ += letter;
    return std::exchange(read_, {});
  }

 private:
  int socket_;
  std::string read_;
};

struct Served {
  testing::TemporaryFolder folder;
  std::uint16_t broker_port = testing::free_loopback_port();
  std::uint16_t web_port = testing::free_loopback_port();
  std::optional<testing::BackgroundProcess> dashboard;
  std::uint16_t port = 0;
  std::string address;

  Served() {
    const auto made = run_program(
        {testing::program("aflguard"), "fleet", "init", (folder / "fleet").string(), "--name", "f",
         "--broker-port", std::to_string(broker_port), "--dashboard-port", std::to_string(web_port)},
        folder.path());
    ASSERT_OK(made);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, made->exit_code, made->output.c_str());
    ASSERT_OK(write_file_atomically(folder / "page.html", std::string("<!doctype html>the page")));
    dashboard.emplace(std::vector<std::string>{testing::program("aflguard"), "dashboard", "--fleet",
                                               (folder / "fleet").string(), "--port", "0", "--page",
                                               (folder / "page.html").string(), "--json"},
                      folder.path(), folder / "dashboard.log");
    std::string said;
    testing::wait_until("the dashboard's address", [&] {
      const bool runs = dashboard->running();
      if (const auto text = read_text_file(folder / "dashboard.log"); text.ok()) said = *text;
      TEST_ASSERT_TRUE_MESSAGE(runs, said.c_str());
      return said.find("}\n") != std::string::npos;
    });
    const auto begin = said.find('{');
    const Json json = Json::parse(said.substr(begin, said.find("}\n") + 1 - begin));
    port = json.at("port").get<std::uint16_t>();
    address = json.at("address").get<std::string>();
  }
  /// The broker opens the listener for browsers after the one for devices.
  void wait_for_listener() const {
    testing::wait_until("the listener for browsers", [this] {
      return !get("GET /mqtt", upgrade("http://" + host()), "\r\n").starts_with("HTTP/1.1 502");
    });
  }
  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port); }
  [[nodiscard]] std::string get(const std::string& line, const std::string& more = "",
                                const std::string& enough = Visit::kEverything) const {
    return Visit(port, line + " HTTP/1.1\r\nHost: " + host() + "\r\n" + more + "\r\n").read(enough);
  }
  [[nodiscard]] std::string upgrade(const std::string& origin) const {
    return "Origin: " + origin +
           "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  }
};

void assert_status(const std::string& answer, const std::string& status) {
  TEST_ASSERT_TRUE_MESSAGE(answer.starts_with("HTTP/1.1 " + status), answer.c_str());
}

}  // namespace

TEST("The page is served on loopback, and nothing else is") {
  const Served served;
  const std::string page = served.get("GET /");
  assert_status(page, "200");
  TEST_ASSERT_TRUE(page.ends_with("\r\n\r\n<!doctype html>the page"));
  TEST_ASSERT_TRUE(page.find("X-Frame-Options: DENY") != std::string::npos);
  TEST_ASSERT_TRUE(served.get("HEAD /").ends_with("\r\n\r\n"));
  assert_status(served.get("GET /index.html?x"), "200");
  for (const char* path :
       {"/fleet.toml", "/../fleet/fleet.toml", "//", "/%2e%2e/ca/ca.key", "/favicon.ico"}) {
    assert_status(served.get(std::string("GET ") + path), "404");
  }
  assert_status(served.get("POST /"), "405");
  assert_status(Visit(served.port, "nonsense\r\n\r\n").read(), "400");
  TEST_ASSERT_EQUAL_STRING("", Visit(served.port, std::string(20000, 'x')).read().c_str());
}

TEST("Visitors under another name, and WebSockets of other pages, are refused") {
  const Served served;
  const std::string port = ":" + std::to_string(served.port);
  assert_status(Visit(served.port, "GET / HTTP/1.1\r\nHost: localhost" + port + "\r\n\r\n").read(), "200");
  for (const std::string& host :
       {std::string("evil.example"), std::string("127.0.0.1"), std::string("localhost:1"),
        "evil.example" + port, "xlocalhost" + port, "localhost" + port + ":80", "localhost" + port + "0",
        "127.0.0.1.evil.example" + port}) {
    assert_status(Visit(served.port, "GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n").read(), "403");
  }
  assert_status(Visit(served.port, "GET / HTTP/1.1\r\n\r\n").read(), "400");
  assert_status(served.get("GET /mqtt", served.upgrade("http://evil.example")), "403");
  assert_status(served.get("GET /mqtt", served.upgrade("null")), "403");
  assert_status(served.get("GET /mqtt", "Origin: http://" + served.host() + "\r\n"), "426");
}

TEST("A WebSocket of the page reaches the broker, which asks for the key") {
  if (!testing::have_mosquitto()) TEST_IGNORE_MESSAGE("Mosquitto is not installed");
  const Served served;
  const std::string origin = "http://" + served.host();
  assert_status(served.get("GET /mqtt", served.upgrade(origin)), "502");  // no broker yet
  const testing::ConfiguredBroker broker(served.folder / "fleet/broker/mosquitto.conf", served.broker_port,
                                         served.folder / "broker.log");
  served.wait_for_listener();
  const auto key = read_text_file(served.folder / "fleet/dashboard/key");
  ASSERT_OK(key);
  const std::string secret = key->substr(0, key->size() - 1);
  TEST_ASSERT_EQUAL_STRING((origin + "/#fleet=f&key=" + secret).c_str(), served.address.c_str());
  const auto field = [](const std::string& text) {
    return std::string{'\0', static_cast<char>(text.size())} + text;
  };
  const auto connect = [&](const std::string& password) {
    const std::string body = field("MQTT") + "\x04\xc2" + std::string("\0\x3c", 2) + field("") +
                             field("dashboard~1") + field(password);
    const std::string packet = std::string("\x10") + static_cast<char>(body.size()) + body;
    // A frame with a mask of zeros.
    return std::string("\x82") + static_cast<char>(0x80U | packet.size()) + std::string(4, '\0') + packet;
  };
  for (const auto& [password, code] : {std::pair{secret, '\0'}, {std::string("wrong"), '\5'}}) {
    Visit visit(served.port,
                "GET /mqtt HTTP/1.1\r\nHost: " + served.host() + "\r\n" + served.upgrade(origin) + "\r\n");
    assert_status(visit.read("\r\n\r\n"), "101");
    visit.send(connect(password));
    const std::string answer = std::string("\x82\x04\x20\x02\0", 5) + code;
    TEST_ASSERT_TRUE(visit.read(answer) == answer);
  }
}

TEST("It ends on SIGTERM while pages are connected") {
  Served served;
  Visit idle(served.port, "GET / HT");
  TEST_ASSERT_EQUAL_INT(0, served.dashboard->end(SIGTERM));
}

TEST("A fleet without a listener for browsers, and a page that is not there, are told with what to do") {
  const testing::TemporaryFolder folder;
  const auto run = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command = {testing::program("aflguard")};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto outcome = run_program(command, folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  };
  TEST_ASSERT_EQUAL_INT(0, run({"fleet", "init", "plain", "--name", "f"}).exit_code);
  const auto none = run({"dashboard", "--fleet", "plain"});
  TEST_ASSERT_EQUAL_INT(1, none.exit_code);
  ASSERT_CONTAINS(none.output, "[dashboard] port = 8884");
  TEST_ASSERT_EQUAL_INT(0,
                        run({"fleet", "init", "web", "--name", "f", "--dashboard-port", "8884"}).exit_code);
  const auto no_page = run({"dashboard", "--fleet", "web", "--page", "missing.html"});
  TEST_ASSERT_EQUAL_INT(1, no_page.exit_code);
  ASSERT_CONTAINS(no_page.output, "missing.html");
  TEST_ASSERT_EQUAL_INT(1, run({"dashboard", "--fleet", "nowhere"}).exit_code);
  TEST_ASSERT_EQUAL_INT(2, run({"dashboard", "--fleet", "web", "--port", "70000"}).exit_code);
}
