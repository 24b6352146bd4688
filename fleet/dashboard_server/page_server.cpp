#include "fleet/dashboard_server/page_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/http/http_request.h"
#include "core/system/file_descriptor.h"

namespace aflguard::fleet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxConnections = 64;
constexpr std::size_t kMaxRequestBytes = 8192;
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::chrono::seconds kTimeout(10);
constexpr std::chrono::minutes kRelayTimeout(5);  // MQTT's keep-alive speaks far more often
constexpr int kBacklog = 16;

/// Waits for events or for the end of the server. False when the time is over or the server ends.
bool wait_for(std::span<pollfd> what, Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  if (left <= 0 || ::poll(what.data(), what.size(), static_cast<int>(left)) <= 0) return false;
  return what.front().revents == 0;  // the first one is the server's end
}

/// What keeps other pages of the browser away from this one.
constexpr std::string_view kForThisPageOnly =
    "X-Frame-Options: DENY\r\nReferrer-Policy: no-referrer\r\nCross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

std::string refusal(int status, const std::string& why) {
  return http_answer(status, "text/plain; charset=utf-8", why + "\n", false, kForThisPageOnly);
}

/// True when `host` ("name:port", as browsers send it) is this machine at that port: a browser that
/// comes under another name was led here by another site.
bool is_own_host(std::string_view host, unsigned port) {
  const std::string end = ":" + std::to_string(port);
  if (!host.ends_with(end)) return false;
  host.remove_suffix(end.size());
  return host == "127.0.0.1" || host == "localhost";
}

/// A browser's side of a connection, without waiting.
class Visitor final {
 public:
  Visitor(int socket, int end) : socket_(socket), end_(end) {}

  /// Up to the empty line; what came behind it stays in `rest`. Empty when nothing whole came in time.
  std::string read_head(std::string& rest) {
    std::string bytes;
    const auto deadline = Clock::now() + kTimeout;
    while (true) {
      if (const auto end = http_head_end(bytes); end != std::string::npos) {
        rest = bytes.substr(end);
        return bytes.substr(0, end);
      }
      std::array<pollfd, 2> what = {pollfd{end_, POLLIN, 0}, pollfd{socket_, POLLIN, 0}};
      if (bytes.size() > kMaxRequestBytes || !wait_for(what, deadline)) return {};
      std::array<char, 4096> more{};
      const ssize_t got = ::recv(socket_, more.data(), more.size(), 0);
      if (got == 0 || (got < 0 && errno != EAGAIN)) return {};
      if (got > 0) bytes.append(more.data(), static_cast<std::size_t>(got));
    }
  }
  void write_all(std::string_view bytes) {
    const auto deadline = Clock::now() + kTimeout;
    while (!bytes.empty()) {
      std::array<pollfd, 2> what = {pollfd{end_, POLLIN, 0}, pollfd{socket_, POLLOUT, 0}};
      if (!wait_for(what, deadline)) return;
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return;
      if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    // A reset would take back what was sent: wait until the browser has hung up.
    ::shutdown(socket_, SHUT_WR);
    std::array<pollfd, 2> what = {pollfd{end_, POLLIN, 0}, pollfd{socket_, POLLIN, 0}};
    std::array<char, 4096> rest{};
    while (wait_for(what, deadline) && ::recv(socket_, rest.data(), rest.size(), 0) > 0) {
    }
  }

  /// Bytes both ways until one side ends. `to_broker` is what the browser has said already.
  void relay(BrokerStream& broker, std::string to_broker) {
    std::string to_browser;
    std::vector<char> more(kBufferBytes);
    while (true) {
      // What cannot be passed on is not read either: memory stays bounded, and TCP tells the sender.
      const bool room_for_browser = to_browser.size() < kBufferBytes;
      const bool room_for_broker = to_broker.size() < kBufferBytes;
      if (room_for_browser) {
        const auto got = broker.read(more);
        if (!got.ok()) break;
        to_browser.append(more.data(), *got);
      }
      if (room_for_broker) {
        const ssize_t got = ::recv(socket_, more.data(), more.size(), 0);
        if (got == 0 || (got < 0 && errno != EAGAIN)) return;
        if (got > 0) to_broker.append(more.data(), static_cast<std::size_t>(got));
      }
      if (!to_broker.empty()) {
        const auto sent = broker.write(to_broker);
        if (!sent.ok()) break;
        to_broker.erase(0, *sent);
      }
      if (!to_browser.empty()) {
        const ssize_t sent = ::send(socket_, to_browser.data(), to_browser.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) return;
        if (sent > 0) to_browser.erase(0, static_cast<std::size_t>(sent));
      }
      if (broker.pending() && to_browser.size() < kBufferBytes) continue;
      const auto events = [](bool in, bool out) {
        return static_cast<short>((in ? POLLIN : 0) | (out ? POLLOUT : 0));
      };
      std::array<pollfd, 3> what = {
          pollfd{end_, POLLIN, 0},
          pollfd{socket_, events(to_broker.size() < kBufferBytes, !to_browser.empty()), 0},
          pollfd{broker.descriptor(), events(to_browser.size() < kBufferBytes, !to_broker.empty()), 0}};
      if (!wait_for(what, Clock::now() + kRelayTimeout) || (what[1].revents & (POLLHUP | POLLERR)) != 0)
        return;
    }
    write_all(to_browser);
  }

 private:
  int socket_;
  int end_;
};

/// The broker gets what a WebSocket needs, and nothing else of what the browser sent.
std::string upgrade_request(const HttpRequest& request) {
  return "GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Key: " +
         request.header("sec-websocket-key") + "\r\n\r\n";
}

}  // namespace

struct PageServer::State {
  PageServerOptions options;
  FileDescriptor listener;
  FileDescriptor end;
  std::uint16_t port = 0;
  struct Connection {
    FileDescriptor socket;
    std::atomic<bool> done = false;
    std::thread thread;
  };
  std::list<Connection> connections;
  std::thread acceptor;

  ~State() {
    if (end.valid()) {
      const std::uint64_t one = 1;
      (void)!::write(end.get(), &one, sizeof one);
    }
    if (acceptor.joinable()) acceptor.join();
    for (Connection& connection : connections) connection.thread.join();
  }

  void accept_all() {
    std::array<pollfd, 2> what = {pollfd{end.get(), POLLIN, 0}, pollfd{listener.get(), POLLIN, 0}};
    while (true) {
      ::poll(what.data(), what.size(), -1);
      if (what[0].revents != 0) return;
      FileDescriptor socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      forget_ended();
      if (!socket.valid()) {
        // No descriptors left, perhaps: not a reason to spin.
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        continue;
      }
      if (connections.size() >= kMaxConnections) continue;
      const int at_once = 1;
      ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
      Connection& connection = connections.emplace_back();
      connection.socket = std::move(socket);
      connection.thread = std::thread([this, &connection] {
        serve(connection.socket.get());
        ::shutdown(connection.socket.get(), SHUT_RDWR);
        connection.done = true;
      });
    }
  }
  void forget_ended() {
    connections.remove_if([](Connection& connection) {
      if (!connection.done) return false;
      connection.thread.join();
      return true;
    });
  }

  void serve(int socket) {
    Visitor visitor(socket, end.get());
    std::string rest;
    const std::string head = visitor.read_head(rest);
    if (head.empty()) return;
    const HttpRequest request = parse_http_request(head);
    if (request.status == 405) {
      return visitor.write_all(refusal(405, "there is only something to get here"));
    }
    if (request.status != 200) return visitor.write_all(refusal(request.status, "this is not a request"));
    if (!is_own_host(request.header("host"), port)) {
      return visitor.write_all(refusal(403, "this page is for this machine only, under its own name"));
    }
    if (request.path == "/mqtt") return serve_broker(visitor, request, std::move(rest));
    if (request.path != "/" && request.path != "/index.html") {
      return visitor.write_all(refusal(404, "there is only / here"));
    }
    visitor.write_all(
        http_answer(200, "text/html; charset=utf-8", options.page, request.head, kForThisPageOnly));
  }

  void serve_broker(Visitor& visitor, const HttpRequest& request, std::string rest) {
    const std::string origin = request.header("origin");
    constexpr std::string_view kScheme = "http://";
    // Any page in the browser may ask for a WebSocket here; the browser says which page it was.
    if (!origin.starts_with(kScheme) || !is_own_host(origin.substr(kScheme.size()), port)) {
      return visitor.write_all(refusal(403, "only this server's own page may connect"));
    }
    if (request.head || request.header("sec-websocket-key").empty()) {
      return visitor.write_all(refusal(426, "this is for WebSockets"));
    }
    auto broker = options.connect();
    if (!broker.ok()) return visitor.write_all(refusal(502, broker.error().message));
    visitor.relay(*broker, upgrade_request(request) + rest);
  }
};

PageServer::PageServer(std::unique_ptr<State> state) : state_(std::move(state)) {}
PageServer::~PageServer() = default;

std::uint16_t PageServer::port() const {
  return state_->port;
}

Result<std::unique_ptr<PageServer>> PageServer::start(PageServerOptions options) {
  auto state = std::make_unique<State>();
  state->options = std::move(options);
  state->end = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  state->listener = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int listener = state->listener.get();
  const int again = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &again, sizeof again);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(state->options.port);
  socklen_t size = sizeof address;
  if (!state->end.valid() || listener < 0 ||
      ::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener, kBacklog) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return unavailable("cannot listen on 127.0.0.1:" + std::to_string(state->options.port) + ": " +
                       std::strerror(errno) + "; --port chooses another, 0 a free one");
  }
  state->port = ntohs(address.sin_port);
  state->acceptor = std::thread([raw = state.get()] { raw->accept_all(); });
  return std::unique_ptr<PageServer>(new PageServer(std::move(state)));
}

}  // namespace aflguard::fleet
