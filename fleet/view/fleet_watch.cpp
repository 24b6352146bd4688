#include "fleet/view/fleet_watch.h"

#include <span>
#include <utility>
#include <variant>

namespace aflguard::view {
namespace {

using std::chrono::system_clock;

constexpr std::size_t kHistoryPoints = 400;
constexpr std::chrono::hours kDeviceSpan{24};
/// Cut off this often within that time: two clients with one identity push each other out.
constexpr std::size_t kCuts = 3;
constexpr std::chrono::seconds kCutSpan{60};

}  // namespace

FleetWatch::FleetWatch(fleet::ViewerIdentity identity, BusFactory make_bus, FleetTopics topics,
                       FleetState picture)
    : identity_(std::move(identity)),
      make_bus_(std::move(make_bus)),
      topics_(std::move(topics)),
      picture_(std::move(picture)) {}

FleetWatch::~FleetWatch() {
  if (bus_) bus_->stop();
}

Result<std::unique_ptr<FleetWatch>> FleetWatch::start(const fleet::ViewerIdentity& identity,
                                                      BusFactory make_bus) {
  TRY(auto topics, FleetTopics::create(identity.fleet));
  TRY(auto picture, FleetState::create(identity.fleet, identity.name));
  std::unique_ptr<FleetWatch> watch(
      new FleetWatch(identity, std::move(make_bus), std::move(topics), std::move(picture)));
  TRY_STATUS(watch->connect());
  return watch;
}

Status FleetWatch::connect() {
  if (bus_) bus_->stop();
  TRY(bus_, make_bus_(identity_, log_));
  for (const std::string& filter :
       {topics_.all_device_statuses(), topics_.all_device_summaries(), topics_.gateway_status(),
        topics_.gateway_metrics(), topics_.events(), topics_.answer(identity_.name)}) {
    // An access list that is older than a topic keeps that one back, and no more.
    TRY_STATUS(bus_->subscribe_if_allowed(filter));
  }
  taken_over_ = false;
  cuts_.clear();
  problem_.clear();
  return bus_->start();
}

Status FleetWatch::take_back() {
  return connect();
}

void FleetWatch::listen(Deadline deadline) {
  while (auto event = bus_->next_event(deadline)) {
    take(*event);
    if (taken_over_) return;
    deadline = {};  // the rest without waiting
  }
}

void FleetWatch::take(const BusEvent& event) {
  if (const auto* received = std::get_if<BusReceived>(&event)) {
    const Message& message = received->message;
    if (message.retained) last_retained_ = std::chrono::steady_clock::now();
    picture_.take(message.topic,
                  {reinterpret_cast<const char*>(message.payload.data()), message.payload.size()},
                  system_clock::now());
  } else if (std::holds_alternative<BusConnected>(event)) {
    connected_ = was_connected_ = true;
    failures_ = 0;
    problem_.clear();
    last_retained_ = std::chrono::steady_clock::now();
    ask_fleet();
  } else if (const auto* lost = std::get_if<BusDisconnected>(&event)) {
    const bool stood = std::exchange(connected_, false);
    ++failures_;
    problem_ = lost->reason;
    if (!lost->taken_over && !(stood && pushed_out())) return;
    // Coming back would push the other one out, which would come back too.
    taken_over_ = true;
    bus_->stop();
  }
}

bool FleetWatch::pushed_out() {
  const auto now = std::chrono::steady_clock::now();
  cuts_.push_back(now);
  while (now - cuts_.front() > kCutSpan) cuts_.pop_front();
  return cuts_.size() >= kCuts;
}

void FleetWatch::publish(const std::string& question) {
  const auto bytes = std::as_bytes(std::span(question));
  // Without an answer there is less of the past to see, and nothing else.
  (void)bus_->publish({topics_.question(identity_.name), Bytes(bytes.begin(), bytes.end()), false});
}

void FleetWatch::ask_fleet() {
  const auto now = system_clock::now();
  publish(picture_.fleet_question(now - kFleetSpan, now, kHistoryPoints));
}

void FleetWatch::ask_device(const std::string& device) {
  const auto now = system_clock::now();
  publish(picture_.device_question(device, now - kDeviceSpan, now, kHistoryPoints));
}

}  // namespace aflguard::view
