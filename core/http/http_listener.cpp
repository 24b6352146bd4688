#include "core/http/http_listener.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <list>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/http/http_request.h"
#include "core/system/file_descriptor.h"

namespace aflguard {
namespace {

using Time = std::chrono::steady_clock::time_point;

/// An address of either family.
struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] sockaddr_in& v4() { return reinterpret_cast<sockaddr_in&>(storage); }
  [[nodiscard]] sockaddr_in6& v6() { return reinterpret_cast<sockaddr_in6&>(storage); }
};

Error no_address(const std::string& text) {
  return invalid_input("'" + text +
                       "' is not an address to listen on; give one like 127.0.0.1:9464, [::1]:9464 or 9464");
}

Result<Address> parse_address(const std::string& text) {
  const auto colon = text.rfind(':');
  std::string host = colon == std::string::npos ? "127.0.0.1" : text.substr(0, colon);
  const std::string digits = colon == std::string::npos ? text : text.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failed != std::errc() || end != digits.data() + digits.size()) return no_address(text);
  Address address;
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    address.v6().sin6_family = AF_INET6;
    address.v6().sin6_port = htons(port);
    address.size = sizeof(sockaddr_in6);
    if (::inet_pton(AF_INET6, host.c_str(), &address.v6().sin6_addr) != 1) return no_address(text);
    return address;
  }
  if (host == "localhost") host = "127.0.0.1";
  address.v4().sin_family = AF_INET;
  address.v4().sin_port = htons(port);
  address.size = sizeof(sockaddr_in);
  if (::inet_pton(AF_INET, host.c_str(), &address.v4().sin_addr) != 1) return no_address(text);
  return address;
}

bool is_loopback(Address address) {
  if (address.storage.ss_family == AF_INET6) return IN6_IS_ADDR_LOOPBACK(&address.v6().sin6_addr);
  return ntohl(address.v4().sin_addr.s_addr) >> 24 == 127;
}

/// One peer, from its first byte to the end.
struct Connection {
  FileDescriptor socket;
  Time deadline;
  std::string in = {};
  std::string out = {};
  std::size_t out_sent = 0;
  bool answered = false;  ///< `out` is whole; nothing more is read but the peer's end
  bool sent = false;      ///< all of it; waits for the peer to close
  bool over = false;
};

}  // namespace

class HttpListener::Server final {
 public:
  Server(FileDescriptor listener, FileDescriptor wake, Address address, Answer answer, const Limits& limits)
      : listener_(std::move(listener)),
        wake_(std::move(wake)),
        address_(address),
        answer_(std::move(answer)),
        limits_(limits),
        thread_([this] { run(); }) {}
  ~Server() {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
    thread_.join();
  }

  [[nodiscard]] std::uint16_t port() {
    return ntohs(address_.storage.ss_family == AF_INET6 ? address_.v6().sin6_port : address_.v4().sin_port);
  }
  [[nodiscard]] bool on_loopback() const { return is_loopback(address_); }

 private:
  void run();
  void accept_peers();
  void serve(Connection& peer, short events);
  void read_from(Connection& peer);
  void write_to(Connection& peer);
  [[nodiscard]] int wait_ms() const;

  FileDescriptor listener_;
  FileDescriptor wake_;
  Address address_;
  const Answer answer_;
  const Limits limits_;
  std::list<Connection> peers_;  ///< oldest first
  std::thread thread_;
};

void HttpListener::Server::run() {
  while (true) {
    std::vector<pollfd> watched = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    for (const Connection& peer : peers_) {
      const bool writing = peer.answered && !peer.sent;
      watched.push_back({peer.socket.get(), static_cast<short>(writing ? POLLOUT : POLLIN), 0});
    }
    if (::poll(watched.data(), watched.size(), wait_ms()) < 0 && errno != EINTR) return;
    if (watched[0].revents != 0) return;
    const Time now = std::chrono::steady_clock::now();
    std::size_t index = 2;
    for (Connection& peer : peers_) {
      if (const short events = watched[index++].revents; events != 0) serve(peer, events);
      if (now >= peer.deadline) peer.over = true;
    }
    peers_.remove_if([](const Connection& peer) { return peer.over; });
    if (watched[1].revents != 0) accept_peers();
  }
}

int HttpListener::Server::wait_ms() const {
  if (peers_.empty()) return -1;
  const auto left = std::min_element(peers_.begin(), peers_.end(),
                                     [](const auto& a, const auto& b) { return a.deadline < b.deadline; })
                        ->deadline -
                    std::chrono::steady_clock::now();
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::max<std::int64_t>(0, ms));
}

void HttpListener::Server::accept_peers() {
  // A few at a time, so that those who are here get their turn in a flood too.
  for (std::size_t i = 0; i < limits_.connections; ++i) {
    FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.get() < 0) {
      // Out of descriptors: the peer that has waited longest gives one back.
      if ((errno == EMFILE || errno == ENFILE) && !peers_.empty()) peers_.pop_front();
      return;
    }
    if (peers_.size() >= limits_.connections) peers_.pop_front();
    peers_.push_back({std::move(socket), std::chrono::steady_clock::now() + limits_.time});
  }
}

void HttpListener::Server::serve(Connection& peer, short events) {
  if ((events & (POLLERR | POLLNVAL)) != 0) {
    peer.over = true;
  } else if (peer.answered && !peer.sent) {
    write_to(peer);
  } else {
    read_from(peer);
  }
}

void HttpListener::Server::read_from(Connection& peer) {
  char bytes[1024];
  const auto count = ::recv(peer.socket.get(), bytes, sizeof bytes, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    peer.over = true;
    return;
  }
  if (peer.answered) return;  // its rest does not matter
  peer.in.append(bytes, static_cast<std::size_t>(count));
  const std::size_t end = http_head_end(peer.in);
  HttpRequest request;
  if (end == std::string::npos) {
    if (peer.in.size() <= limits_.request_bytes) return;
    request.status = 431;
  } else {
    request = end > limits_.request_bytes ? HttpRequest{.status = 431}
                                          : parse_http_request(std::string_view(peer.in).substr(0, end));
  }
  const HttpReply reply = request.status == 200 ? answer_(request.path)
                                                : HttpReply{.status = request.status,
                                                            .body = "this request is not served here\n"};
  peer.out = http_answer(reply.status, reply.type, reply.body, request.head);
  peer.in.clear();
  peer.answered = true;
  write_to(peer);
}

void HttpListener::Server::write_to(Connection& peer) {
  const std::string_view rest = std::string_view(peer.out).substr(peer.out_sent);
  const auto count = ::send(peer.socket.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
  if (count < 0) {
    peer.over = errno != EAGAIN && errno != EINTR;
    return;
  }
  peer.out_sent += static_cast<std::size_t>(count);
  if (peer.out_sent < peer.out.size()) return;
  // Closing at once would reset a connection whose request has not been read to its end, and take the answer
  // away from the peer.
  peer.sent = true;
  ::shutdown(peer.socket.get(), SHUT_WR);
}

HttpListener::HttpListener(std::unique_ptr<Server> server) : server_(std::move(server)) {}
HttpListener::~HttpListener() = default;

Result<std::unique_ptr<HttpListener>> HttpListener::open(const std::string& address, Answer answer,
                                                         const Limits& limits) {
  TRY(Address where, parse_address(address));
  FileDescriptor listener(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC));
  const int yes = 1;
  const bool listens = listener.get() >= 0 && wake.get() >= 0 &&
                       ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
                       ::bind(listener.get(), where.get(), where.size) == 0 &&
                       ::listen(listener.get(), 16) == 0 &&
                       ::getsockname(listener.get(), where.get(), &where.size) == 0;
  if (!listens) {
    return io_error("cannot listen on " + address + ": " + std::strerror(errno) +
                    "; choose another address or end the program that has it");
  }
  return std::unique_ptr<HttpListener>(new HttpListener(
      std::make_unique<Server>(std::move(listener), std::move(wake), where, std::move(answer), limits)));
}

std::uint16_t HttpListener::port() const {
  return server_->port();
}

bool HttpListener::on_loopback() const {
  return server_->on_loopback();
}

}  // namespace aflguard
