#include "fleet/view/fleet_state.h"

#include <array>
#include <cmath>

#include "core/telemetry/message_reader.h"
#include "fleet/view/history_answer.h"

namespace aflguard::view {
namespace {

/// More than any question asks for, in all parts of an answer together.
constexpr std::size_t kMaxToldPoints = 4 * kMaxHistoryPoints;

void append(std::vector<std::pair<WallTime, double>>& all,
            const std::vector<std::pair<WallTime, double>>& part) {
  for (const auto& point : part) {
    if (all.size() < kMaxToldPoints) all.push_back(point);
  }
}

}  // namespace

std::string_view to_string(DeviceState state) {
  constexpr std::array<std::string_view, 7> kNames = {"unknown",      "init", "ready", "training",
                                                      "disconnected", "lost", "alert"};
  return kNames[static_cast<std::size_t>(state)];
}

std::optional<double> JudgedDistance::ratio() const {
  if (!distance || !bound || *bound <= 0) return std::nullopt;
  return *distance / *bound;
}

std::optional<std::uint64_t> DevicePicture::accepted() const {
  if (record && record->accepted) return record->accepted;
  return words ? words->accepted : std::nullopt;
}

std::optional<std::uint64_t> DevicePicture::rejected() const {
  if (record && record->rejected) return record->rejected;
  return words ? words->rejected : std::nullopt;
}

std::optional<double> DevicePicture::rejected_share() const {
  if (record && record->recent_rejected_share) return record->recent_rejected_share;
  const auto good = accepted();
  const auto bad = rejected();
  if (!good || !bad || *good + *bad == 0) return std::nullopt;
  return static_cast<double>(*bad) / static_cast<double>(*good + *bad);
}

std::optional<WallTime> DevicePicture::last_seen() const {
  std::optional<WallTime> latest = words ? words->time : std::nullopt;
  if (record && record->last_seen && (!latest || *latest < *record->last_seen)) latest = record->last_seen;
  return latest;
}

std::optional<double> GatewayPicture::figure(const std::string& name) const {
  const auto found = figures.find(name);
  if (found == figures.end()) return std::nullopt;
  return found->second;
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
      const auto words = read_gateway_status(payload);
      if (!words) return payload.empty();
      gateway_.state = words->state;
      gateway_.message = words->message;
      gateway_.guard = words->guard;
      gateway_.software = words->software;
      return true;
    }
    case TopicKind::kGatewayMetrics:
      return take_metrics(payload, now);
    case TopicKind::kEvents: {
      auto event = read_event(payload);
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
    auto message = read_device_status(payload);
    if (!message) return false;
    DevicePicture& device = devices_[topic.device];
    device.state = message->state;
    // A last will knows the state only; what the device said before is still the latest of its words.
    if (message->state == DeviceState::kLost && device.words) {
      device.words->message = message->words.message;
    } else {
      device.words = std::move(message->words);
    }
    return true;
  }
  auto message = read_device_summary(payload);
  if (!message) return false;
  DevicePicture& device = devices_[topic.device];
  if (!device.words) device.state = message->state;
  device.record = std::move(message->record);
  return true;
}

void FleetState::forget(const Topic& topic) {
  const auto known = devices_.find(topic.device);
  if (known == devices_.end()) return;
  if (topic.kind == TopicKind::kDeviceStatus) {
    known->second.words.reset();
    known->second.state = DeviceState::kUnknown;
  } else {
    known->second.record.reset();
  }
  if (!known->second.words && !known->second.record) devices_.erase(known);
}

bool FleetState::take_metrics(std::string_view payload, WallTime now) {
  if (!read_gateway_metrics(payload, gateway_)) return false;
  gateway_.heard_at = now;
  // By the gateway's clock, like the history that it tells.
  const WallTime time = gateway_.time.value_or(now);
  if (const auto rate = gateway_.figure("updates_per_second")) rate_.add(time, *rate);
  if (const auto error = gateway_.figure("test_error")) error_.add(time, *error);
  return true;
}

bool FleetState::take_answer(std::string_view payload) {
  auto answer = read_history_answer(payload);
  if (!answer) return false;
  if (answer->id == fleet_question_id_) {
    append(told_rates_, answer->rates);
    append(told_errors_, answer->errors);
    if (answer->last) {
      rate_.prepend(std::exchange(told_rates_, {}));
      error_.prepend(std::exchange(told_errors_, {}));
      ++answers_;
    }
    return true;
  }
  if (answer->id == device_question_id_) {
    if (!history_ || history_->device != device_asked_) history_ = DeviceHistory{device_asked_, {}};
    for (JudgedDistance& point : answer->distances) {
      if (history_->points.size() < kMaxToldPoints) history_->points.push_back(point);
    }
  }
  return true;  // otherwise the answer to an older question
}

std::string FleetState::fleet_question(WallTime from, WallTime to, std::size_t points) {
  fleet_question_id_ = std::to_string(++questions_);
  told_rates_.clear();
  told_errors_.clear();
  return history_question(fleet_question_id_, {}, from, to, points);
}

std::string FleetState::device_question(const std::string& device, WallTime from, WallTime to,
                                        std::size_t points) {
  device_question_id_ = std::to_string(++questions_);
  device_asked_ = device;
  history_.reset();
  return history_question(device_question_id_, device, from, to, points);
}

}  // namespace aflguard::view
