#include "fleet/broker_openssl/broker_probe.h"

#include <algorithm>
#include <cerrno>
#include <openssl/err.h>

namespace aflguard::fleet {
namespace {

constexpr std::uint8_t kConnect = 0x10;
constexpr std::uint8_t kConnected = 0x20;
constexpr std::uint8_t kPublish = 0x30;
constexpr std::uint8_t kPublishOnce = 0x32;  // QoS 1
constexpr std::uint8_t kPublished = 0x40;
constexpr std::uint8_t kSubscribe = 0x82;
constexpr std::uint8_t kSubscribed = 0x90;
constexpr std::uint8_t kPing = 0xc0;
constexpr std::uint8_t kPong = 0xd0;
constexpr std::uint8_t kDisconnect = 0xe0;
constexpr std::uint8_t kFirstFailure = 0x80;
constexpr std::uint8_t kMaximumPacketSize = 0x27;
constexpr std::uint8_t kMaximumQos = 0x24;
constexpr std::size_t kMaxBody = std::size_t{300} << 20;
constexpr std::size_t kKeptOfBody = 4096;

using Bytes8 = std::vector<std::uint8_t>;

void add_text(Bytes8& body, const std::string& text) {
  body.push_back(static_cast<std::uint8_t>(text.size() >> 8));
  body.push_back(static_cast<std::uint8_t>(text.size()));
  body.insert(body.end(), text.begin(), text.end());
}

/// The number of bytes behind a property of that name; none for those that are not needed here.
std::optional<std::size_t> property_size(std::uint8_t name) {
  switch (name) {
    case kMaximumQos:
    case 0x25:
    case 0x28:
    case 0x29:
    case 0x2a:
      return 1;
    case 0x13:
    case 0x21:
    case 0x22:
      return 2;
    case 0x11:
    case kMaximumPacketSize:
      return 4;
    default:
      return std::nullopt;
  }
}

/// The value of a property whose value is a number.
std::optional<std::uint32_t> find_property(const Bytes8& body, std::uint8_t wanted) {
  // flags, reason, length of the properties (below 128), properties
  std::size_t at = 3;
  while (at < body.size()) {
    const std::uint8_t name = body[at++];
    if (name == 0x12 || name == 0x1a || name == 0x1f) {  // texts: the client id that the broker chose, ...
      if (at + 2 > body.size()) return std::nullopt;
      at += 2 + (std::size_t{body[at]} << 8 | body[at + 1]);
      continue;
    }
    const auto size = property_size(name);
    if (!size || at + *size > body.size()) return std::nullopt;
    if (name == wanted) {
      std::uint32_t value = 0;
      for (std::size_t i = 0; i < *size; ++i) value = value << 8 | body[at + i];
      return value;
    }
    at += *size;
  }
  return std::nullopt;
}

/// What OpenSSL or the broker behind it said.
std::string last_words() {
  const unsigned long code = ERR_peek_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  if (reason != nullptr) return reason;
  return errno == EAGAIN ? "it does not answer in time" : "it hung up";
}

}  // namespace

BrokerProbe::~BrokerProbe() {
  (void)send(kDisconnect, {});
}

Result<std::unique_ptr<BrokerProbe>> BrokerProbe::connect(const std::string& host, std::uint16_t port,
                                                          const std::string& authority_pem,
                                                          const std::optional<TlsIdentity>& identity,
                                                          std::chrono::seconds timeout) {
  TRY(TlsConnection connection, TlsConnection::prepare(host, port, authority_pem, identity, timeout));
  std::unique_ptr<BrokerProbe> probe(new BrokerProbe(std::move(connection)));
  errno = 0;
  if (SSL_connect(probe->connection_.get()) != 1) {
    const long verified = SSL_get_verify_result(probe->connection_.get());
    if (verified == X509_V_OK) return unavailable(last_words());
    ERR_clear_error();
    return unavailable("what answers is not this fleet's broker: " +
                       std::string(X509_verify_cert_error_string(verified)));
  }
  TRY_STATUS(probe->greet());
  return probe;
}

Status BrokerProbe::greet() {
  Bytes8 body;
  add_text(body, "MQTT");
  // version 5, clean start, a minute of keep-alive, no properties
  body.insert(body.end(), {5, 0x02, 0, 60, 0});
  add_text(body, "aflguard");
  TRY_STATUS(send(kConnect, body));
  TRY(const Packet answer, read_packet());
  if (answer.type != kConnected || answer.body.size() < 2) return unavailable("it does not support MQTT 5");
  if (answer.body[1] != 0) return unavailable("MQTT refuses with code " + std::to_string(answer.body[1]));
  largest_packet_ = find_property(answer.body, kMaximumPacketSize);
  highest_qos_ = find_property(answer.body, kMaximumQos).value_or(2);
  return {};
}

Status BrokerProbe::send(std::uint8_t type, const Bytes8& body) {
  Bytes8 packet = {type};
  std::size_t left = body.size();
  do {
    packet.push_back(static_cast<std::uint8_t>(left % 128 + (left >= 128 ? 128 : 0)));
    left /= 128;
  } while (left > 0);
  packet.insert(packet.end(), body.begin(), body.end());
  errno = 0;
  if (SSL_write(connection_.get(), packet.data(), static_cast<int>(packet.size())) <= 0) {
    return unavailable(last_words());
  }
  return {};
}

Status BrokerProbe::read_bytes(std::uint8_t* bytes, std::size_t count) {
  while (count > 0) {
    errno = 0;
    const int done =
        SSL_read(connection_.get(), bytes, static_cast<int>(std::min<std::size_t>(count, 65536)));
    if (done <= 0) return unavailable(last_words());
    bytes += done;
    count -= static_cast<std::size_t>(done);
  }
  return {};
}

Result<BrokerProbe::Packet> BrokerProbe::read_packet() {
  Packet packet;
  TRY_STATUS(read_bytes(&packet.type, 1));
  std::size_t size = 0;
  for (int shift = 0; shift < 28; shift += 7) {
    std::uint8_t byte = 0;
    TRY_STATUS(read_bytes(&byte, 1));
    size |= std::size_t{byte & 0x7fu} << shift;
    if (byte < 128) break;
  }
  if (size > kMaxBody) return unavailable("it sends what is not MQTT");
  packet.body.resize(std::min(size, kKeptOfBody));
  TRY_STATUS(read_bytes(packet.body.data(), packet.body.size()));
  Bytes8 rest(65536);
  for (std::size_t left = size - packet.body.size(); left > 0;) {
    const std::size_t part = std::min(left, rest.size());
    TRY_STATUS(read_bytes(rest.data(), part));
    left -= part;
  }
  return packet;
}

void BrokerProbe::note(const Packet& message) {
  if (message.body.size() < 2) return;
  const std::size_t length = std::size_t{message.body[0]} << 8 | message.body[1];
  if (2 + length > message.body.size()) return;
  topics_.emplace_back(message.body.begin() + 2,
                       message.body.begin() + 2 + static_cast<std::ptrdiff_t>(length));
}

Result<BrokerProbe::Packet> BrokerProbe::wait_for(std::uint8_t type) {
  while (true) {
    TRY(Packet packet, read_packet());
    if (packet.type == type) return packet;
    if ((packet.type & 0xf0) == kPublish) note(packet);
    if (packet.type == kDisconnect) return unavailable("it hung up");
  }
}

Result<bool> BrokerProbe::publish(const std::string& topic, const std::string& payload) {
  Bytes8 body;
  add_text(body, topic);
  ++last_id_;
  body.insert(body.end(), {static_cast<std::uint8_t>(last_id_ >> 8), static_cast<std::uint8_t>(last_id_), 0});
  body.insert(body.end(), payload.begin(), payload.end());
  TRY_STATUS(send(kPublishOnce, body));
  const auto answer = wait_for(kPublished);
  if (!answer.ok()) return answer.error();
  return answer->body.size() < 3 || answer->body[2] < kFirstFailure;
}

Status BrokerProbe::subscribe(const std::string& filter) {
  ++last_id_;
  Bytes8 body = {static_cast<std::uint8_t>(last_id_ >> 8), static_cast<std::uint8_t>(last_id_), 0};
  add_text(body, filter);
  body.push_back(0);  // QoS 0: nothing has to be confirmed
  TRY_STATUS(send(kSubscribe, body));
  TRY([[maybe_unused]] const Packet answer, wait_for(kSubscribed));
  return {};
}

Result<std::vector<std::string>> BrokerProbe::received() {
  TRY_STATUS(send(kPing, {}));
  TRY([[maybe_unused]] const Packet answer, wait_for(kPong));
  return topics_;
}

}  // namespace aflguard::fleet
