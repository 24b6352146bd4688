#include "firmware_sim/links/link_relay.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/file_descriptor.h"
#include "firmware_sim/links/board_link.h"

namespace aflguard::sim {
namespace {

constexpr std::size_t kBufferBytes = 64 << 10;
constexpr int kTickMilliseconds = 50;  // how fine a slow link is, and how soon a changed one is noticed
constexpr int kBacklog = 16;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

Result<std::vector<Address>> resolve(const std::string& host, std::uint16_t port) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (problem != 0) return not_found("the broker's host '" + host + "': " + ::gai_strerror(problem));
  std::vector<Address> addresses;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    Address address;
    std::memcpy(&address.storage, info->ai_addr, info->ai_addrlen);
    address.size = info->ai_addrlen;
    addresses.push_back(address);
  }
  ::freeaddrinfo(found);
  return addresses;
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

Result<std::uint16_t> port_of(int socket) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return io_error(std::string("a socket has no address: ") + std::strerror(errno));
  }
  return ntohs(address.sin_port);
}

Result<FileDescriptor> listen_on(std::uint16_t port) {
  FileDescriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  if (!listener.valid() ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return io_error("cannot listen on port " + std::to_string(port) +
                    " of loopback: " + std::strerror(errno));
  }
  return listener;
}

/// One direction of a connection.
struct Flow {
  std::array<char, kBufferBytes> buffer{};
  std::size_t begin = 0;
  std::size_t end = 0;
  bool ended = false;  ///< the sender has said all
  bool told = false;   ///< and the receiver knows
  bool broken = false;

  [[nodiscard]] bool empty() const { return begin == end; }

  void read_from(int socket, std::size_t at_most) {
    if (!empty() || ended || at_most == 0) return;
    const ssize_t count = ::recv(socket, buffer.data(), std::min(at_most, buffer.size()), 0);
    if (count > 0) {
      begin = 0;
      end = static_cast<std::size_t>(count);
    } else if (count == 0) {
      ended = true;
    } else if (errno != EAGAIN && errno != EINTR) {
      broken = true;
    }
  }
  std::size_t write_to(int socket) {
    std::size_t sent = 0;
    if (!empty()) {
      const ssize_t count = ::send(socket, buffer.data() + begin, end - begin, MSG_NOSIGNAL);
      if (count > 0) {
        sent = static_cast<std::size_t>(count);
        begin += sent;
      } else if (count < 0 && errno != EAGAIN && errno != EINTR) {
        broken = true;
      }
    }
    if (empty() && ended && !told) {
      ::shutdown(socket, SHUT_WR);
      told = true;
    }
    return sent;
  }
};

struct Connection {
  FileDescriptor board;
  FileDescriptor broker;
  bool connected = false;  ///< to the broker
  Flow up;
  Flow down;
  std::size_t board_slot = 0;  ///< in the list that is polled
  std::size_t broker_slot = 0;

  [[nodiscard]] bool over() const { return up.broken || down.broken || (up.told && down.told); }
};

/// Connecting takes place in the background; it may also fail there.
FileDescriptor begin_connecting(const std::vector<Address>& addresses) {
  for (const Address& address : addresses) {
    FileDescriptor socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid()) continue;
    const int yes = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::connect(socket.get(), address.get(), address.size) == 0 || errno == EINPROGRESS) return socket;
  }
  return FileDescriptor();
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Link {
  RelayPort order;
  std::uint16_t port = 0;
  FileDescriptor listener;
  LinkState state;
  ByteAllowance allowance;
  std::list<Connection> connections;
  std::size_t slot = 0;
  std::uint64_t budget = 0;  ///< bytes that may pass in this turn

  void look_at_state() {
    const auto text = read_text_file(order.state_file, 256);
    if (!text.ok()) {
      if (text.error().kind == ErrorKind::kNotFound) state = {};
      return;
    }
    if (const auto wanted = parse_link_state(*text); wanted.ok()) state = *wanted;
  }
  void begin_turn(double now) {
    if (state.cut) {
      budget = 0;
    } else if (state.bytes_per_second > 0) {
      budget = allowance.available(state.bytes_per_second, now);
    } else {
      budget = UINT64_MAX;
    }
  }
  void spend(std::size_t bytes) {
    if (state.bytes_per_second == 0) return;
    allowance.spend(bytes);
    budget -= std::min<std::uint64_t>(budget, bytes);
  }
};

}  // namespace

struct LinkRelay::State {
  std::vector<Address> broker;
  std::vector<Link> links;

  void accept_board(Link& link) {
    FileDescriptor board(::accept4(link.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!board.valid()) return;
    const int yes = 1;
    ::setsockopt(board.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    FileDescriptor broker_side = begin_connecting(broker);
    if (!broker_side.valid()) return;  // the board sees its connection end, as with a broker that is down
    Connection& connection = link.connections.emplace_back();
    connection.board = std::move(board);
    connection.broker = std::move(broker_side);
  }

  static void want(std::vector<pollfd>& polled, std::size_t& slot, int fd, short events) {
    slot = polled.size();
    polled.push_back({fd, events, 0});
  }

  [[nodiscard]] std::vector<pollfd> what_to_wait_for() {
    std::vector<pollfd> polled;
    for (Link& link : links) {
      // A link that may pass nothing now is not even looked at: poll() would not wait then.
      const int hidden = link.budget == 0 ? -1 : 0;
      want(polled, link.slot, hidden != 0 ? -1 : link.listener.get(), POLLIN);
      for (Connection& connection : link.connections) {
        const auto interest = [&](const Flow& out, const Flow& in) {
          return static_cast<short>((in.empty() && !in.ended && connection.connected ? POLLIN : 0) |
                                    (!out.empty() || (out.ended && !out.told) ? POLLOUT : 0));
        };
        const short board = interest(connection.down, connection.up);
        const short broker_side =
            connection.connected ? interest(connection.up, connection.down) : short{POLLOUT};
        want(polled, connection.board_slot, hidden != 0 || board == 0 ? -1 : connection.board.get(), board);
        want(polled, connection.broker_slot, hidden != 0 || broker_side == 0 ? -1 : connection.broker.get(),
             broker_side);
      }
    }
    return polled;
  }

  static void finish_connecting(Connection& connection, const pollfd& polled) {
    if (polled.revents == 0) return;
    int problem = 0;
    socklen_t size = sizeof problem;
    ::getsockopt(connection.broker.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
    if (problem != 0) connection.up.broken = true;
    connection.connected = problem == 0;
  }

  static void serve(Link& link, Connection& connection, const std::vector<pollfd>& polled) {
    const short board = polled[connection.board_slot].revents;
    const short broker_side = polled[connection.broker_slot].revents;
    if (!connection.connected) {
      finish_connecting(connection, polled[connection.broker_slot]);
      return;
    }
    const auto room = [&link] {
      return static_cast<std::size_t>(std::min<std::uint64_t>(link.budget, kBufferBytes));
    };
    if (board != 0) connection.up.read_from(connection.board.get(), room());
    link.spend(connection.up.write_to(connection.broker.get()));
    if (broker_side != 0) connection.down.read_from(connection.broker.get(), room());
    link.spend(connection.down.write_to(connection.board.get()));
  }

  void turn() {
    const double now = seconds_now();
    for (Link& link : links) link.begin_turn(now);
    std::vector<pollfd> polled = what_to_wait_for();
    if (::poll(polled.data(), polled.size(), kTickMilliseconds) < 0) return;
    for (Link& link : links) {
      if (link.budget == 0) continue;
      for (Connection& connection : link.connections) serve(link, connection, polled);
      link.connections.remove_if([](const Connection& connection) { return connection.over(); });
      if (polled[link.slot].revents != 0) accept_board(link);
    }
  }
};

LinkRelay::LinkRelay(std::unique_ptr<State> state) : state_(std::move(state)) {}
LinkRelay::LinkRelay(LinkRelay&&) noexcept = default;
LinkRelay::~LinkRelay() = default;

Result<LinkRelay> LinkRelay::create(std::vector<RelayPort> ports, const std::string& broker_host,
                                    std::uint16_t broker_port) {
  auto state = std::make_unique<State>();
  TRY(state->broker, resolve(broker_host, broker_port));
  for (RelayPort& order : ports) {
    Link link;
    TRY(link.listener, listen_on(order.port));
    TRY(link.port, port_of(link.listener.get()));
    link.order = std::move(order);
    state->links.push_back(std::move(link));
  }
  return LinkRelay(std::move(state));
}

std::vector<std::uint16_t> LinkRelay::ports() const {
  std::vector<std::uint16_t> ports;
  for (const Link& link : state_->links) ports.push_back(link.port);
  return ports;
}

void LinkRelay::run(const std::function<bool()>& stop) {
  double looked = 0;
  while (!stop()) {
    if (const double now = seconds_now(); now - looked >= kTickMilliseconds / 1000.0) {
      for (Link& link : state_->links) link.look_at_state();
      looked = now;
    }
    state_->turn();
  }
}

bool answers(const std::string& host, std::uint16_t port) {
  const auto addresses = resolve(host, port);
  if (!addresses.ok()) return false;
  constexpr int kTimeoutMilliseconds = 5000;
  for (const Address& address : *addresses) {
    const FileDescriptor socket(
        ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.valid()) continue;
    if (::connect(socket.get(), address.get(), address.size) == 0) return true;
    if (errno != EINPROGRESS) continue;
    pollfd polled{socket.get(), POLLOUT, 0};
    int problem = 0;
    socklen_t size = sizeof problem;
    if (::poll(&polled, 1, kTimeoutMilliseconds) == 1 &&
        ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace aflguard::sim
