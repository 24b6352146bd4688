#include "core/telemetry/device_status.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"
#include "core/base/short_text.h"

namespace aflguard {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes of a message; as many as six times that in JSON, where each is a control character.
constexpr std::size_t kLongestMessage = 500;

double rounded(double number) {
  return std::round(number * 10) / 10;
}

/// Text from outside (an operating system's error) need not be UTF-8.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json head(DeviceState state, const std::string& device) {
  return {{"schema", "aflguard-device-status-1"}, {"state", to_string(state)}, {"device", device}};
}

}  // namespace

std::string_view to_string(DeviceState state) {
  switch (state) {
    case DeviceState::kInit:
      return "init";
    case DeviceState::kReady:
      return "ready";
    case DeviceState::kTraining:
      return "training";
    case DeviceState::kDisconnected:
      return "disconnected";
    case DeviceState::kLost:
      return "lost";
    case DeviceState::kAlert:
      return "alert";
  }
  return "unknown";
}

std::string to_json(const DeviceStatus& status) {
  Json json = head(status.state, status.device);
  json["time"] = to_rfc3339(status.time);
  if (status.version) json["version"] = *status.version;
  json["sequence"] = status.sequence;
  if (status.verdict) {
    json["verdict"] = {{"accepted", status.verdict->accepted},
                       {"reason", status.verdict->reason},
                       {"delay", status.verdict->delay}};
  }
  json["accepted"] = status.accepted;
  json["rejected"] = status.rejected;
  json["refused"] = status.refused;
  if (status.loss && std::isfinite(*status.loss)) json["loss"] = *status.loss;
  json["samples"] = status.samples;
  json["software"] = status.software;
  json["rss_mb"] = rounded(status.rss_mb);
  if (status.board.temperature_c) json["temperature_c"] = rounded(*status.board.temperature_c);
  if (status.board.memory_free_mb) json["memory_free_mb"] = *status.board.memory_free_mb;
  if (status.certificate_until) json["certificate_until"] = to_rfc3339(*status.certificate_until);
  json["message"] = shortened(status.message, kLongestMessage);
  return dump(json);
}

std::string last_will_json(const std::string& device, const std::string& software) {
  Json json = head(DeviceState::kLost, device);
  json["software"] = software;
  json["message"] = "the device is gone without saying goodbye";
  return dump(json);
}

}  // namespace aflguard
