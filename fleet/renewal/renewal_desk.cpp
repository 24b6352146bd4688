#include "fleet/renewal/renewal_desk.h"

#include <span>

namespace aflguard::fleet {
namespace {

using std::chrono::steady_clock;

/// The broker sends what it keeps at once; after so much silence there is no more.
constexpr std::chrono::seconds kSilence(1);
constexpr std::size_t kMostRequests = 100'000;

}  // namespace

Result<RenewalDesk> RenewalDesk::open(std::unique_ptr<MessageBus> bus, const std::string& fleet) {
  TRY(FleetTopics topics, FleetTopics::create(fleet));
  RenewalDesk desk(std::move(bus), std::move(topics));
  TRY_STATUS(desk.bus_->subscribe(desk.topics_.all_renewals()));
  TRY_STATUS(desk.bus_->start());
  return desk;
}

RenewalDesk::~RenewalDesk() {
  if (bus_) bus_->stop();
}

Result<RenewalDesk::Requests> RenewalDesk::collect(std::chrono::seconds timeout) {
  Requests requests;
  std::string problem = "no answer";
  Time deadline = steady_clock::now() + timeout;
  bool connected = false;
  while (auto event = bus_->next_event(deadline)) {
    if (std::holds_alternative<BusConnected>(*event)) {
      connected = true;
      deadline = steady_clock::now() + kSilence;
    }
    if (const auto* lost = std::get_if<BusDisconnected>(&*event)) {
      if (connected) return unavailable("the broker ended the connection: " + lost->reason);
      problem = lost->reason;
    }
    auto* received = std::get_if<BusReceived>(&*event);
    if (received == nullptr) continue;
    const auto topic = parse_topic(received->message.topic);
    if (!topic.ok() || topic->kind != TopicKind::kRenewal || received->message.payload.empty()) continue;
    if (requests.size() >= kMostRequests) break;  // the rest with the next call
    requests[topic->device] = std::move(received->message.payload);
    deadline = steady_clock::now() + kSilence;
  }
  if (!connected) {
    return unavailable("no connection to the broker in " + std::to_string(timeout.count()) +
                       " s: " + problem);
  }
  return requests;
}

Status RenewalDesk::answer(const std::string& device, const std::string& certificate_pem,
                           std::chrono::seconds timeout) {
  const auto bytes = std::as_bytes(std::span(certificate_pem));
  TRY_STATUS(publish(
      {.topic = topics_.certificate(device), .payload = {bytes.begin(), bytes.end()}, .retained = true},
      timeout));
  return drop(device, timeout);
}

Status RenewalDesk::drop(const std::string& device, std::chrono::seconds timeout) {
  return publish({.topic = topics_.renewal(device), .payload = {}, .retained = true}, timeout);
}

Status RenewalDesk::publish(Message message, std::chrono::seconds timeout) {
  const std::string topic = message.topic;
  TRY(const PublishId id, bus_->publish(std::move(message)));
  const Time deadline = steady_clock::now() + timeout;
  while (auto event = bus_->next_event(deadline)) {
    if (const auto* done = std::get_if<BusPublished>(&*event); done != nullptr && done->id == id) return {};
    if (const auto* failed = std::get_if<BusPublishFailed>(&*event); failed != nullptr && failed->id == id) {
      return unavailable("the broker does not take " + topic +
                         "; 'aflguard fleet refresh' writes its access list again");
    }
  }
  return unavailable("the broker did not take " + topic + " in " + std::to_string(timeout.count()) + " s");
}

}  // namespace aflguard::fleet
