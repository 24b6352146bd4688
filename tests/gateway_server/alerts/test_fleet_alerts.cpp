#include <array>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>

#include "core/system/atomic_file.h"
#include "core/system/file_descriptor.h"
#include "gateway_server/alerts/fleet_alerts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

/// Takes one request after the other and answers each with `answer`.
class WebServer final {
 public:
  explicit WebServer(std::string answer) : answer_(std::move(answer)) {
    socket_ = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    TEST_ASSERT_EQUAL_INT(0, ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)));
    TEST_ASSERT_EQUAL_INT(0, ::listen(socket_.get(), 8));
    socklen_t size = sizeof(address);
    TEST_ASSERT_EQUAL_INT(0, ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size));
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  ~WebServer() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  [[nodiscard]] HttpUrl url() const { return {"127.0.0.1", port_, "/hook"}; }
  /// The bodies so far.
  [[nodiscard]] std::vector<std::string> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  void run() {
    while (true) {
      const FileDescriptor peer(::accept(socket_.get(), nullptr, nullptr));
      if (!peer.valid()) return;
      std::string text;
      std::array<char, 4096> part{};
      while (text.find("}") == std::string::npos) {
        const ssize_t got = ::recv(peer.get(), part.data(), part.size(), 0);
        if (got <= 0) break;
        text.append(part.data(), static_cast<std::size_t>(got));
      }
      {
        const std::lock_guard lock(mutex_);
        seen_.push_back(text);  // before the answer, after which the test looks
      }
      (void)write_all(peer.get(), answer_);
    }
  }
  const std::string answer_;
  FileDescriptor socket_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> seen_;
  std::thread thread_;
};

/// What was logged, by whichever thread.
class LinesLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view line) override {
    const std::lock_guard lock(mutex_);
    text_ += std::string(line) + "\n";
  }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

class ManualClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override {
    return std::chrono::system_clock::from_time_t(1'769'860'800) + past;
  }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override {
    return std::chrono::steady_clock::time_point(1000s + past);
  }
  std::chrono::seconds past{0};
};

DeviceStatus in_state(DeviceState state, const ManualClock& clock, std::chrono::hours left = 1000h) {
  DeviceStatus status;
  status.state = state;
  status.certificate_until = clock.wall() + left;
  return status;
}

}  // namespace

TEST("A webhook gets what begins and what is over, as JSON, and the server's answer is looked at") {
  WebServer good("HTTP/1.1 204 No Content\r\n\r\n");
  ManualClock clock;
  LinesLog log;
  {
    FleetAlerts alerts({.ways = {.webhook = good.url()}, .lost = 300s}, "greenhouse", clock, log);
    alerts.status("pi-1", in_state(DeviceState::kLost, clock));
    alerts.status("pi-2", in_state(DeviceState::kTraining, clock, 100h));
    alerts.trouble("rising-error", "the test error rises");
    alerts.disk(0.5);
    alerts.tick();
    clock.past = 300s;
    alerts.tick();
    alerts.status("pi-1", in_state(DeviceState::kTraining, clock));
    alerts.trouble("rising-error", "");
    alerts.tick();
  }  // sends what waits
  const auto seen = good.seen();
  TEST_ASSERT_EQUAL_size_t(5, seen.size());
  ASSERT_CONTAINS(seen[0], "POST /hook HTTP/1.1\r\n");
  ASSERT_CONTAINS(seen[0], R"("kind":"certificate","state":"problem","device":"pi-2")");
  ASSERT_CONTAINS(seen[1], R"("kind":"rising-error","state":"problem","text":"the test error rises")");
  ASSERT_CONTAINS(seen[2], R"("kind":"device-lost","state":"problem","device":"pi-1")");
  ASSERT_CONTAINS(seen[3], R"("kind":"device-lost","state":"over","device":"pi-1")");
  ASSERT_CONTAINS(seen[4], R"("kind":"rising-error","state":"over")");
  WebServer bad("HTTP/1.1 500 Oh no\r\n\r\n");
  const Status refused = post_json(bad.url(), "{}", 30s);
  TEST_ASSERT_FALSE(refused.ok());
  ASSERT_CONTAINS(refused.error().message, "it answers 'HTTP/1.1 500 Oh no'");
}

TEST("A command gets the alert in its environment; one that fails is logged") {
  const TemporaryFolder folder;
  ManualClock clock;
  LinesLog log;
  {
    FleetAlerts alerts(
        {.ways = {.command = {"sh", "-c",
                              "echo $AFLGUARD_ALERT_KIND $AFLGUARD_ALERT_STATE $AFLGUARD_ALERT_DEVICE >> " +
                                  (folder / "told").string() +
                                  "; [ $AFLGUARD_ALERT_STATE = problem ] || exit 3"}}},
        "greenhouse", clock, log);
    alerts.suspicious("pi-7", true);
    alerts.tick();
    alerts.suspicious("pi-7", false);
    alerts.tick();
  }
  TEST_ASSERT_EQUAL_STRING("suspicious problem pi-7\nsuspicious over pi-7\n",
                           read_text_file(folder / "told").value().c_str());
  ASSERT_CONTAINS(log.text(), "[alerts] command: 'sh' ended with exit code 3");
}

TEST("Addresses of webhooks are read, others named") {
  TEST_ASSERT_TRUE(parse_http_url("http://localhost:8080/a/b?c").value() ==
                   (HttpUrl{"localhost", 8080, "/a/b?c"}));
  TEST_ASSERT_TRUE(parse_http_url("http://example.org").value() == (HttpUrl{"example.org", 80, "/"}));
  TEST_ASSERT_TRUE(parse_http_url("http://[::1]:9/x").value() == (HttpUrl{"::1", 9, "/x"}));
  for (const char* bad :
       {"", "https://example.org", "http://", "http://:80", "http://host:0/", "http://host:99999/",
        "http://user@host/", "http://host/a b", "http://host/a\r\nX: y", "ftp://host"}) {
    const auto url = parse_http_url(bad);
    TEST_ASSERT_FALSE_MESSAGE(url.ok(), bad);
    ASSERT_CONTAINS(url.error().message, "is not an address like http://");
  }
}
