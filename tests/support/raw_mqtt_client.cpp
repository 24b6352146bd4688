#include "tests/support/raw_mqtt_client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <deque>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/check.h"
#include "tests/support/test.h"

namespace aflguard::testing {
namespace {

constexpr std::uint8_t kConnect = 0x10;
constexpr std::uint8_t kConnectAnswer = 0x20;
constexpr std::uint8_t kPublish = 0x30;
constexpr std::uint8_t kPublishAnswer = 0x40;
constexpr std::uint8_t kSubscribe = 0x82;
constexpr std::uint8_t kSubscribeAnswer = 0x90;
constexpr std::uint8_t kPing = 0xc0;
constexpr std::uint8_t kPingAnswer = 0xd0;

std::string number16(std::size_t number) {
  return {static_cast<char>(number >> 8), static_cast<char>(number & 0xff)};
}

std::string text(const std::string& content) {
  return number16(content.size()) + content;
}

std::string packet(std::uint8_t kind, const std::string& body) {
  std::string bytes(1, static_cast<char>(kind));
  std::size_t rest = body.size();
  do {
    bytes += static_cast<char>((rest % 128) | (rest >= 128 ? 0x80 : 0));
    rest /= 128;
  } while (rest > 0);
  return bytes + body;
}

std::string frame(const std::string& bytes) {
  const bool small = bytes.size() < 126;
  check(bytes.size() < 65536, "tests send small frames");
  return std::string("\x82") + static_cast<char>(0x80U | (small ? bytes.size() : 126U)) +
         (small ? "" : number16(bytes.size())) + std::string(4, '\0') + bytes;
}

struct Packet {
  std::uint8_t kind = 0;  ///< with its flags
  std::string body;
};

}  // namespace

struct RawMqttClient::State {
  SSL_CTX* context = nullptr;
  SSL* connection = nullptr;
  int socket = -1;
  bool accepted = false;
  bool web_socket = false;
  std::string unread;  ///< what frames of the WebSocket brought and nobody has read
  std::deque<RawMessage> received;

  ~State() {
    SSL_free(connection);
    SSL_CTX_free(context);
    if (socket >= 0) ::close(socket);
    ERR_clear_error();
  }

  /// Connects to `port` on loopback; false when TLS fails.
  bool open(std::uint16_t port) {
    socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const timeval limit{10, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const int at_once = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port);
    check(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0,
          "the broker listens");
    connection = SSL_new(context);
    SSL_set_fd(connection, socket);
    return SSL_connect(connection) == 1;
  }
  void ask_for_session(const std::string& connect) {
    send(packet(kConnect, connect));
    const auto answer = next();
    accepted = answer && answer->kind == kConnectAnswer && answer->body.size() == 2 && answer->body[1] == 0;
  }
  /// RFC 6455, as far as a test needs it: one frame for each packet, masked with zeros.
  bool upgrade() {
    const std::string request =
        "GET /mqtt HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: mqtt\r\n\r\n";
    if (!send_raw(request)) return false;
    std::string answer;
    char letter = 0;
    while (!answer.ends_with("\r\n\r\n") && read_raw(&letter, 1)) answer += letter;
    web_socket = answer.starts_with("HTTP/1.1 101");
    return web_socket;
  }
  bool read_frame() {
    std::uint8_t head[2];
    if (!read_raw(reinterpret_cast<char*>(head), 2)) return false;
    std::size_t size = head[1] & 0x7fU;
    const int more = size == 126 ? 2 : size == 127 ? 8 : 0;
    if (more > 0) size = 0;
    for (int i = 0; i < more; ++i) {
      std::uint8_t digit = 0;
      if (!read_raw(reinterpret_cast<char*>(&digit), 1)) return false;
      size = size << 8U | digit;
    }
    std::string content(size, '\0');
    if (!read_raw(content.data(), size)) return false;
    constexpr unsigned kClose = 8;
    if ((head[0] & 0x0fU) == kClose) return false;
    unread += content;
    return true;
  }

  bool send(const std::string& bytes) { return send_raw(web_socket ? frame(bytes) : bytes); }
  bool send_raw(const std::string& bytes) {
    return SSL_write(connection, bytes.data(), static_cast<int>(bytes.size())) ==
           static_cast<int>(bytes.size());
  }
  bool read(char* to, std::size_t count) {
    if (!web_socket) return read_raw(to, count);
    while (unread.size() < count) {
      if (!read_frame()) return false;
    }
    std::copy_n(unread.begin(), count, to);
    unread.erase(0, count);
    return true;
  }
  bool read_raw(char* to, std::size_t count) {
    while (count > 0) {
      const int got = SSL_read(connection, to, static_cast<int>(count));
      if (got <= 0) return false;
      to += got;
      count -= static_cast<std::size_t>(got);
    }
    return true;
  }
  std::optional<Packet> next() {
    Packet packet;
    if (!read(reinterpret_cast<char*>(&packet.kind), 1)) return std::nullopt;
    std::size_t size = 0;
    std::uint8_t digit = 0x80;
    for (unsigned shift = 0; (digit & 0x80U) != 0; shift += 7) {
      if (!read(reinterpret_cast<char*>(&digit), 1)) return std::nullopt;
      size |= std::size_t{digit & 0x7fU} << shift;
    }
    packet.body.resize(size);
    if (!read(packet.body.data(), size)) return std::nullopt;
    return packet;
  }
  /// A message is kept and acknowledged.
  void take(const Packet& packet) {
    const std::string& body = packet.body;
    const std::size_t topic =
        std::size_t{static_cast<std::uint8_t>(body[0])} * 256 + static_cast<std::uint8_t>(body[1]);
    const bool acknowledged = (packet.kind & 0x06U) != 0;
    received.push_back({body.substr(2, topic), body.substr(2 + topic + (acknowledged ? 2 : 0))});
    if (acknowledged) send(aflguard::testing::packet(kPublishAnswer, body.substr(2 + topic, 2)));
  }
  /// Reads until an answer of that kind comes; messages on the way are kept.
  bool wait_for(std::uint8_t kind) {
    while (const auto packet = next()) {
      if ((packet->kind & 0xf0U) == kind) return true;
      if ((packet->kind & 0xf0U) == kPublish) take(*packet);
    }
    return false;
  }
};

RawMqttClient::RawMqttClient(std::uint16_t port, const MqttIdentity& identity, const std::string& client_id,
                             bool newest_tls)
    : state_(std::make_unique<State>()) {
  ::signal(SIGPIPE, SIG_IGN);
  state_->context = SSL_CTX_new(TLS_client_method());
  SSL_CTX* const context = state_->context;
  if (!newest_tls) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  check(SSL_CTX_load_verify_locations(context, identity.authority.c_str(), nullptr) == 1 &&
            SSL_CTX_use_certificate_file(context, identity.certificate.c_str(), SSL_FILETYPE_PEM) == 1 &&
            SSL_CTX_use_PrivateKey_file(context, identity.key.c_str(), SSL_FILETYPE_PEM) == 1,
        "the identity's files can be read");
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (state_->open(port)) {
    state_->ask_for_session(text("MQTT") + std::string("\x04\x02\0\x3c", 4) + text(client_id));
  }
}

RawMqttClient::RawMqttClient(std::uint16_t port, const MqttUser& user, const std::string& client_id)
    : state_(std::make_unique<State>()) {
  ::signal(SIGPIPE, SIG_IGN);
  state_->context = SSL_CTX_new(TLS_client_method());
  check(SSL_CTX_load_verify_locations(state_->context, user.authority.c_str(), nullptr) == 1,
        "the authority's file can be read");
  SSL_CTX_set_verify(state_->context, SSL_VERIFY_PEER, nullptr);
  if (!state_->open(port) || !state_->upgrade()) return;
  const char flags = static_cast<char>(user.name.empty() ? 0x02 : 0xc2);
  state_->ask_for_session(text("MQTT") + "\x04" + flags + std::string("\0\x3c", 2) + text(client_id) +
                          (user.name.empty() ? "" : text(user.name) + text(user.password)));
}

RawMqttClient::~RawMqttClient() = default;

bool RawMqttClient::accepted() const {
  return state_->accepted;
}

void RawMqttClient::subscribe(const std::string& filter) {
  state_->send(packet(kSubscribe, number16(1) + text(filter) + "\x01"));
  check(state_->wait_for(kSubscribeAnswer), "the broker confirms a subscription");
}

bool RawMqttClient::publish(const std::string& topic, const std::string& payload, bool retain) {
  return state_->send(packet(kPublish | 0x02 | (retain ? 1 : 0), text(topic) + number16(7) + payload)) &&
         state_->wait_for(kPublishAnswer);
}

std::optional<RawMessage> RawMqttClient::receive() {
  while (state_->received.empty()) {
    const auto packet = state_->next();
    if (!packet) return std::nullopt;
    if ((packet->kind & 0xf0U) == kPublish) state_->take(*packet);
  }
  RawMessage message = std::move(state_->received.front());
  state_->received.pop_front();
  return message;
}

bool RawMqttClient::alive() {
  return state_->send(packet(kPing, "")) && state_->wait_for(kPingAnswer);
}

void assert_next(RawMqttClient& client, const std::string& topic, const std::string& payload) {
  const auto message = client.receive();
  TEST_ASSERT_TRUE_MESSAGE(message.has_value(), ("nothing came on " + topic).c_str());
  TEST_ASSERT_EQUAL_STRING(topic.c_str(), message->topic.c_str());
  TEST_ASSERT_EQUAL_STRING(payload.c_str(), message->payload.c_str());
}

}  // namespace aflguard::testing
