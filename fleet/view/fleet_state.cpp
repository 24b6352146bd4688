#include "fleet/view/fleet_state.h"

#include <algorithm>

#include "core/telemetry/history_answer.h"
#include "core/telemetry/history_question.h"

namespace aflguard::view {
namespace {

/// More than any question asks for, in all parts of an answer together.
constexpr std::size_t kMaxToldPoints = 4 * static_cast<std::size_t>(kMaxHistoryPoints);

using Values = std::vector<std::pair<WallTime, double>>;

void append(Values& all, WallTime time, const std::optional<double>& value) {
  if (value && all.size() < kMaxToldPoints) all.emplace_back(time, *value);
}

std::string question_text(std::string id, std::string device, WallTime from, WallTime to,
                          std::size_t points) {
  constexpr auto kMost = static_cast<std::size_t>(kMaxHistoryPoints);
  return to_json(HistoryQuestion{std::move(id), std::move(device), to_milliseconds(from), to_milliseconds(to),
                                 static_cast<std::int64_t>(std::min(points, kMost))});
}

}  // namespace

std::optional<std::uint64_t> DevicePicture::accepted() const {
  if (summary && summary->accepted) return summary->accepted;
  return status ? status->accepted : std::nullopt;
}

std::optional<std::uint64_t> DevicePicture::rejected() const {
  if (summary && summary->rejected) return summary->rejected;
  return status ? status->rejected : std::nullopt;
}

std::optional<double> DevicePicture::rejected_share() const {
  if (summary && summary->recent_rejected_share) return summary->recent_rejected_share;
  const auto good = accepted();
  const auto bad = rejected();
  if (!good || !bad || *good + *bad == 0) return std::nullopt;
  return static_cast<double>(*bad) / static_cast<double>(*good + *bad);
}

std::optional<double> DevicePicture::recent_rejected_share() const {
  return summary ? summary->recent_rejected_share : rejected_share();
}

std::optional<WallTime> DevicePicture::last_seen() const {
  std::optional<WallTime> latest = status ? status->time : std::nullopt;
  if (summary && summary->last_seen && (!latest || *latest < *summary->last_seen))
    latest = summary->last_seen;
  return latest;
}

Result<FleetState> FleetState::create(std::string_view fleet, std::string_view viewer,
                                      const PictureLimits& limits) {
  TRY([[maybe_unused]] const auto topics, FleetTopics::create(fleet));
  return FleetState(fleet, viewer, limits);
}

void FleetState::take(std::string_view topic, std::string_view payload, WallTime now) {
  ++counters_.messages;
  if (topic.starts_with('$')) return;  // the broker's own
  const auto known = parse_topic(topic);
  if (!known.ok() || known->fleet != fleet_ || payload.size() > limits_.message_bytes ||
      !take_known(*known, payload, now)) {
    ++counters_.ignored;
  }
}

bool FleetState::take_known(const Topic& topic, std::string_view payload, WallTime now) {
  switch (topic.kind) {
    case TopicKind::kDeviceStatus:
    case TopicKind::kDeviceSummary:
      if (!payload.empty()) return take_device(topic, payload);
      forget(topic);
      return true;
    case TopicKind::kGatewayStatus: {
      auto status = payload.empty() ? std::optional(GatewayStatus{}) : read_gateway_status(payload);
      if (status) gateway_.status = *std::move(status);
      return status.has_value();
    }
    case TopicKind::kGatewayMetrics:
      return take_metrics(payload, now);
    case TopicKind::kEvents: {
      auto event = read_fleet_event(payload);
      if (!event) return false;
      events_.push_back(*std::move(event));
      ++event_count_;
      if (events_.size() > limits_.events) events_.pop_front();
      return true;
    }
    case TopicKind::kAnswer:
      return topic.device == viewer_ && take_answer(payload);
    case TopicKind::kUpdate:
    case TopicKind::kVerdict:
    case TopicKind::kModel:
    case TopicKind::kQuestion:
    case TopicKind::kRelease:
    case TopicKind::kReleasePiece:
    case TopicKind::kTrial:
    case TopicKind::kRollout:
    case TopicKind::kRenewal:
    case TopicKind::kCertificate:
      return false;
  }
  return false;
}

bool FleetState::take_device(const Topic& topic, std::string_view payload) {
  const auto known = devices_.find(topic.device);
  if (known == devices_.end() && devices_.size() >= limits_.devices) {
    ++counters_.left_out;
    return true;
  }
  if (topic.kind == TopicKind::kDeviceStatus) {
    auto status = read_device_status(payload);
    if (!status) return false;
    DevicePicture& device = devices_[topic.device];
    device.state = status->state;
    // A last will knows the state only; what the device said before is still the latest that it said.
    if (status->state == DeviceState::kLost && device.status) {
      device.status->message = std::move(status->message);
    } else {
      device.status = *std::move(status);
    }
    return true;
  }
  auto summary = read_device_summary(payload);
  if (!summary) return false;
  DevicePicture& device = devices_[topic.device];
  if (!device.status) device.state = summary->state;
  device.summary = *std::move(summary);
  return true;
}

void FleetState::forget(const Topic& topic) {
  const auto known = devices_.find(topic.device);
  if (known == devices_.end()) return;
  DevicePicture& device = known->second;
  if (topic.kind == TopicKind::kDeviceStatus) {
    device.status.reset();
    device.state = device.summary ? device.summary->state : DeviceState::kUnknown;
  } else {
    device.summary.reset();
  }
  if (!device.status && !device.summary) devices_.erase(known);
}

bool FleetState::take_metrics(std::string_view payload, WallTime now) {
  if (payload.empty()) {
    gateway_.metrics = {};
    gateway_.heard_at.reset();
    return true;
  }
  auto metrics = read_gateway_metrics(payload);
  if (!metrics) return false;
  gateway_.metrics = *std::move(metrics);
  gateway_.heard_at = now;
  // By the gateway's clock, like the history that it tells.
  const WallTime time = gateway_.metrics.time.value_or(now);
  if (const auto rate = gateway_.metrics.updates_per_second) rate_.add(time, *rate);
  if (const auto error = gateway_.metrics.test_error) error_.add(time, *error);
  return true;
}

bool FleetState::take_answer(std::string_view payload) {
  const auto answer = read_history_answer(payload);
  if (!answer) return false;
  if (answer->id == fleet_question_id_) {
    for (const FleetHistoryPoint& point : answer->fleet) {
      append(told_rates_, point.time, point.updates_per_second);
      append(told_errors_, point.time, point.test_error);
    }
    if (answer->last) {
      rate_.prepend(std::exchange(told_rates_, {}));
      error_.prepend(std::exchange(told_errors_, {}));
      ++answers_;
    }
    return true;
  }
  if (answer->id == device_question_id_) {
    if (!history_ || history_->device != device_asked_) history_ = DeviceHistory{device_asked_, {}};
    for (const DeviceHistoryPoint& point : answer->device) {
      if (history_->points.size() == kMaxToldPoints) break;
      const bool accepted = point.accepted.value_or(0) >= point.rejected.value_or(0);  // most of the step's
      history_->points.push_back({point.time, point.distance, point.bound, accepted});
    }
  }
  return true;  // otherwise the answer to an older question
}

std::string FleetState::fleet_question(WallTime from, WallTime to, std::size_t points) {
  fleet_question_id_ = std::to_string(++questions_);
  told_rates_.clear();
  told_errors_.clear();
  return question_text(fleet_question_id_, {}, from, to, points);
}

std::string FleetState::device_question(const std::string& device, WallTime from, WallTime to,
                                        std::size_t points) {
  device_question_id_ = std::to_string(++questions_);
  device_asked_ = device;
  history_.reset();
  return question_text(device_question_id_, device, from, to, points);
}

}  // namespace aflguard::view
