#include "edge_client/device_status.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"

namespace aflguard {

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
  nlohmann::ordered_json json;
  json["schema"] = "aflguard-device-status-1";
  json["state"] = to_string(status.state);
  json["device"] = status.device;
  if (status.version) json["version"] = *status.version;
  json["sequence"] = status.sequence;
  if (status.verdict) {
    json["verdict"] = {{"accepted", status.verdict->accepted}, {"reason", status.verdict->reason}};
  }
  json["accepted"] = status.accepted;
  json["rejected"] = status.rejected;
  json["refused"] = status.refused;
  if (status.loss && std::isfinite(*status.loss)) json["loss"] = *status.loss;
  json["samples"] = status.samples;
  json["software"] = status.software;
  json["rss_mb"] = std::round(status.rss_mb * 10) / 10;
  if (status.certificate_until) json["certificate_until"] = to_rfc3339(*status.certificate_until);
  json["message"] = status.message;
  // Text from outside (an operating system's error) need not be UTF-8.
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace aflguard
