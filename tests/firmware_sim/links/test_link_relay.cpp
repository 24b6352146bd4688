#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <netinet/in.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "firmware_sim/links/link_relay.h"
#include "tests/support/test.h"
#include "tests/support/wait_until.h"

using namespace aflguard;
using namespace aflguard::sim;
using namespace std::chrono_literals;

namespace {

constexpr auto kLong = 60s;

/// A socket of this test; every wait ends at some time.
class Peer final {
 public:
  explicit Peer(int fd) : fd_(fd) { TEST_ASSERT_TRUE(fd >= 0); }
  Peer(Peer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~Peer() {
    if (fd_ >= 0) ::close(fd_);
  }
  static Peer connect(std::uint16_t port) {
    Peer peer(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    TEST_ASSERT_EQUAL_INT(0, ::connect(peer.fd_, reinterpret_cast<sockaddr*>(&address), sizeof address));
    return peer;
  }
  void send(const std::string& text) const {
    TEST_ASSERT_EQUAL_INT(static_cast<int>(text.size()),
                          static_cast<int>(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL)));
  }
  [[nodiscard]] bool readable(std::chrono::milliseconds timeout) const {
    pollfd polled{fd_, POLLIN, 0};
    return ::poll(&polled, 1, static_cast<int>(timeout.count())) > 0;
  }
  /// So many bytes; fewer when the other side ends.
  [[nodiscard]] std::string receive(std::size_t count) const {
    std::string text;
    while (text.size() < count) {
      TEST_ASSERT_TRUE_MESSAGE(readable(kLong), "bytes come");
      char buffer[4096];
      const ssize_t got = ::recv(fd_, buffer, std::min(sizeof buffer, count - text.size()), 0);
      if (got <= 0) break;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }
  [[nodiscard]] bool at_end() const { return receive(1).empty(); }
  void end_sending() const { ::shutdown(fd_, SHUT_WR); }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

/// Where the relay's connections arrive.
class Listener final {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    TEST_ASSERT_EQUAL_INT(0, ::bind(socket_.fd(), reinterpret_cast<sockaddr*>(&address), size));
    TEST_ASSERT_EQUAL_INT(0, ::listen(socket_.fd(), 8));
    TEST_ASSERT_EQUAL_INT(0, ::getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&address), &size));
    port_ = ntohs(address.sin_port);
  }
  [[nodiscard]] Peer accept() const {
    TEST_ASSERT_TRUE_MESSAGE(socket_.readable(kLong), "the relay connects");
    return Peer(::accept(socket_.fd(), nullptr, nullptr));
  }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  Peer socket_;
  std::uint16_t port_ = 0;
};

/// A relay with two links, at work.
class Relay final {
 public:
  explicit Relay(std::uint16_t broker_port, const std::string& first_state = "open\n") {
    set("one", first_state);
    auto made = LinkRelay::create({{0, folder_ / "one"}, {0, folder_ / "two"}}, "127.0.0.1", broker_port);
    ASSERT_OK(made);
    relay_.emplace(std::move(made).value());
    thread_ = std::thread([this] {
      relay_->run([this] {
        turn_began_ = std::chrono::steady_clock::now();
        ++turns_;
        return stop_.load();
      });
    });
  }
  ~Relay() {
    stop_ = true;
    thread_.join();
  }
  [[nodiscard]] Peer connect(std::size_t link) const { return Peer::connect(relay_->ports().at(link)); }
  void set(const char* link, const std::string& state) const {
    ASSERT_OK(write_file_atomically(folder_ / link, state));
  }
  /// Returns when the relay has read the state files again: it does so in every turn that begins 50 ms after
  /// the turn in which it last did.
  void wait_for_look() const {
    const auto due = std::chrono::steady_clock::now() + 50ms;
    testing::wait_until("the relay's next turn", [&] { return turn_began_.load() >= due; });
    const std::uint64_t turn = turns_;
    testing::wait_until("the end of that turn", [&] { return turns_ > turn; });
  }

 private:
  testing::TemporaryFolder folder_;
  std::optional<LinkRelay> relay_;
  std::atomic<bool> stop_{false};
  std::atomic<std::chrono::steady_clock::time_point> turn_began_{};
  std::atomic<std::uint64_t> turns_{0};
  std::thread thread_;
};

}  // namespace

TEST("Bytes pass in both directions, and an end is passed on") {
  const Listener broker;
  const Relay relay(broker.port());
  const Peer board = relay.connect(0);
  const Peer other = broker.accept();
  board.send("hello");
  TEST_ASSERT_EQUAL_STRING("hello", other.receive(5).c_str());
  const std::string much(300'000, 'x');
  std::thread sender([&] { other.send(much); });
  TEST_ASSERT_TRUE(board.receive(much.size()) == much);
  sender.join();
  board.end_sending();
  TEST_ASSERT_TRUE(other.at_end());
  other.send("last");
  TEST_ASSERT_EQUAL_STRING("last", board.receive(4).c_str());
}

TEST("A cut link passes nothing and tells nobody; the other link does not notice; nothing is lost") {
  const Listener broker;
  const Relay relay(broker.port());
  const Peer board = relay.connect(0);
  const Peer broker_side = broker.accept();
  const Peer neighbour = relay.connect(1);
  const Peer neighbour_side = broker.accept();
  const auto chat = [&] {
    for (int i = 0; i < 3; ++i) {
      neighbour.send("well");
      TEST_ASSERT_EQUAL_STRING("well", neighbour_side.receive(4).c_str());
    }
  };
  relay.set("one", "cut\n");
  relay.wait_for_look();
  chat();
  board.send("word");
  chat();
  TEST_ASSERT_FALSE(broker_side.readable(0ms));
  relay.set("one", "open\n");
  TEST_ASSERT_EQUAL_STRING("word", broker_side.receive(4).c_str());
}

TEST("A slow link takes its time") {
  const Listener broker;
  const Relay relay(broker.port(), "slow 4000\n");
  const Peer board = relay.connect(0);
  const Peer broker_side = broker.accept();
  const std::string text(6000, 'x');
  const auto start = std::chrono::steady_clock::now();
  board.send(text);
  TEST_ASSERT_TRUE(broker_side.receive(text.size()) == text);
  const auto took = std::chrono::steady_clock::now() - start;
  TEST_ASSERT_TRUE_MESSAGE(took >= 1s,
                           "4000 bytes a second, and at most a quarter of a second's worth in stock");
}

TEST("A board sees its connection end while the broker is down") {
  std::uint16_t port = 0;
  { port = Listener().port(); }
  const Relay relay(port);
  const Peer board = relay.connect(0);
  TEST_ASSERT_TRUE(board.at_end());
}

TEST("Two relays cannot have the same port, and a broker needs an address") {
  const testing::TemporaryFolder folder;
  const auto first = LinkRelay::create({{0, folder / "a"}}, "127.0.0.1", 1);
  ASSERT_OK(first);
  const auto second = LinkRelay::create({{first->ports().at(0), folder / "a"}}, "127.0.0.1", 1);
  TEST_ASSERT_FALSE(second.ok());
  ASSERT_CONTAINS(second.error().message, "cannot listen on port");
  const auto nowhere = LinkRelay::create({}, "..", 1);
  TEST_ASSERT_FALSE(nowhere.ok());
  ASSERT_CONTAINS(nowhere.error().message, "the broker's host '..'");
}

TEST("Whether someone listens can be asked") {
  const Listener broker;
  TEST_ASSERT_TRUE(answers("127.0.0.1", broker.port()));
  std::uint16_t gone = 0;
  { gone = Listener().port(); }
  TEST_ASSERT_FALSE(answers("127.0.0.1", gone));
}
