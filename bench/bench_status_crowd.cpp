#include "bench/bench_status_crowd.h"

#include <span>

#include "core/base/rfc3339.h"
#include "core/telemetry/device_status.h"

namespace aflguard::bench {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kCrowdTimeout(60);
constexpr milliseconds kCrowdPollInterval(100);

}  // namespace

std::string bench_status(const std::string& device, std::uint64_t turn) {
  const bool training = turn % 2 == 0;
  return to_json(
      DeviceStatus{.state = training ? DeviceState::kTraining : DeviceState::kReady,
                   .device = device,
                   .time = std::chrono::system_clock::now(),
                   .version = 800 + turn,
                   .sequence = turn,
                   .verdict = LastVerdict{.accepted = true, .reason = "accepted", .delay = turn % 7},
                   .accepted = turn,
                   .rejected = 0,
                   .refused = 0,
                   .loss = 1.0 / static_cast<double>(turn + 1),
                   .samples = 32,
                   .software = "0.1.0",
                   .rss_mb = 48.2,
                   .board = {.temperature_c = 51.5, .memory_free_mb = 310},
                   .certificate_until = parse_rfc3339("2038-01-31T12:00:00Z").value(),
                   .message = training ? "" : "waiting for samples"});
}

Result<std::unique_ptr<StatusCrowd>> StatusCrowd::start(const BenchFleet& fleet, std::size_t devices,
                                                        const std::string& echoed) {
  TRY(const FleetTopics topics, FleetTopics::create(BenchFleet::name()));
  const std::string echo_topic = echoed.empty() ? std::string() : topics.device_status(echoed);
  auto crowd = std::unique_ptr<StatusCrowd>(new StatusCrowd(topics, devices, echo_topic));
  TRY(crowd->bus_, MqttBus::create(fleet.device_options(1), crowd->log_));
  TRY_STATUS(crowd->bus_->subscribe(topics.all_device_summaries()));
  if (!echoed.empty()) TRY_STATUS(crowd->bus_->subscribe(echo_topic));
  TRY_STATUS(crowd->bus_->start());
  const auto deadline = Clock::now() + kCrowdTimeout;
  while (const auto event = crowd->bus_->next_event(deadline)) {
    if (std::holds_alternative<BusConnected>(*event)) return crowd;
  }
  return unavailable("the publisher of status messages did not connect");
}

StatusCrowd::~StatusCrowd() {
  if (bus_) bus_->stop();
}

Status StatusCrowd::introduce(const std::function<bool()>& stop) {
  for (std::size_t i = 0; i < devices_; ++i) TRY_STATUS(publish_next());
  const auto deadline = Clock::now() + kCrowdTimeout + milliseconds(100 * devices_);
  while (known_.size() < devices_) {
    if (stop && stop()) return unavailable("stopped");
    if (Clock::now() > deadline) {
      return unavailable("the gateway reported " + std::to_string(known_.size()) + " devices of " +
                         std::to_string(devices_));
    }
    listen(Clock::now() + kCrowdPollInterval);
  }
  return {};
}

Status StatusCrowd::pass(std::chrono::duration<double> span, double interval,
                         const std::function<bool()>& stop) {
  const auto gap = std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(interval / static_cast<double>(devices_)));
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(span);
  for (auto due = Clock::now(); Clock::now() < end;) {
    if (stop && stop()) return unavailable("stopped");
    if (interval > 0) TRY_STATUS(publish_next());
    due += interval > 0 ? gap : Clock::duration(kCrowdPollInterval);
    listen(std::min(due, end));
  }
  return {};
}

Status StatusCrowd::publish(const std::string& device, const std::string& json) {
  const auto bytes = std::as_bytes(std::span(json));
  const auto taken = bus_->publish({topics_.device_status(device), Bytes(bytes.begin(), bytes.end()), true});
  if (!taken.ok()) return taken.error();
  return {};
}

Status StatusCrowd::publish_next() {
  const std::string device = "device-" + std::to_string(next_ % devices_ + 1);
  const std::string json = bench_status(device, next_ / devices_);
  ++next_;
  const auto deadline = Clock::now() + kCrowdTimeout;
  while (!publish(device, json).ok()) {
    if (Clock::now() > deadline) return unavailable("the broker takes no more status messages");
    listen(Clock::now() + milliseconds(5));
  }
  listen({});
  return {};
}

void StatusCrowd::listen(Time deadline) {
  while (const auto event = bus_->next_event(deadline)) take(*event);
}

void StatusCrowd::take(const BusEvent& event) {
  const auto* received = std::get_if<BusReceived>(&event);
  if (received == nullptr) return;
  if (received->message.topic == echo_topic_) {
    echo_ = Clock::now().time_since_epoch().count();
    return;
  }
  ++received_;
  known_.insert(received->message.topic);
}

}  // namespace aflguard::bench
