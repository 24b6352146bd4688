#include "gateway_server/telemetry/home_assistant.h"

#include <array>
#include <nlohmann/json.hpp>

namespace aflguard::gateway {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMessagesPerSecond = 50;
/// No device has this name: a name begins with a letter or a digit.
constexpr std::string_view kGateway = "_gateway";
constexpr const char* kGatewayOnline =
    "{{ 'online' if value_json.state in ['ready', 'alert'] else 'offline' }}";
constexpr const char* kDeviceOnline =
    "{{ 'offline' if value_json.state in ['lost', 'disconnected'] else 'online' }}";

/// Names may have dots, Home Assistant's ids may not. Different names stay different.
std::string id_of(std::string_view name) {
  std::string id;
  for (const char letter : name) {
    if (letter == '.') {
      id += "_d";
    } else if (letter == '_') {
      id += "__";
    } else {
      id += letter;
    }
  }
  return id;
}

Bytes as_bytes(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Json availability(const std::string& topic, const char* value_template) {
  return Json::array({{{"topic", topic}, {"value_template", value_template}}});
}

}  // namespace

struct HomeAssistant::Sensor {
  enum class From { kMetrics, kSummary, kStatus };
  const char* id;
  const char* name;
  const char* value;  ///< a template
  From from = From::kMetrics;
  const char* unit = nullptr;
  const char* device_class = nullptr;
  const char* state_class = "measurement";
};

namespace {

using Sensor = HomeAssistant::Sensor;
using From = Sensor::From;

// What is absent in a message (a board without a thermometer) is unknown to Home Assistant, and no error.
constexpr std::array<Sensor, 8> kGatewaySensors = {{
    {"version", "Model version", "{{ value_json.version }}", From::kMetrics, nullptr, nullptr, "measurement"},
    {"error", "Model error", "{{ value_json.test_error | default(none) }}", From::kMetrics},
    {"rate", "Updates per second", "{{ value_json.updates_per_second | default(none) }}", From::kMetrics},
    {"accepted", "Updates accepted", "{{ value_json.accepted }}", From::kMetrics, nullptr, nullptr,
     "total_increasing"},
    {"rejected", "Updates rejected", "{{ value_json.rejected }}", From::kMetrics, nullptr, nullptr,
     "total_increasing"},
    {"connected", "Devices connected", "{{ value_json.devices_connected }}", From::kMetrics},
    {"queue", "Updates waiting", "{{ value_json.queue }}", From::kMetrics},
    {"free", "Free space", "{{ value_json.store_free_bytes | default(none) }}", From::kMetrics, "B",
     "data_size"},
}};
constexpr std::array<Sensor, 6> kDeviceSensors = {{
    {"state", "State", "{{ value_json.state }}", From::kStatus, nullptr, nullptr, nullptr},
    {"temperature", "Temperature", "{{ value_json.temperature_c | default(none) }}", From::kStatus, "\u00b0C",
     "temperature"},
    {"memory", "Free memory", "{{ value_json.memory_free_mb | default(none) }}", From::kStatus, "MB",
     "data_size"},
    {"loss", "Loss", "{{ value_json.loss | default(none) }}", From::kStatus},
    {"rejected_share", "Share rejected",
     "{{ (value_json.recent_rejected_share * 100) | round(1) if value_json.recent_rejected_share is number "
     "else none }}",
     From::kSummary, "%"},
    {"distance", "Distance to the bound", "{{ value_json.distance_ratio | default(none) }}", From::kSummary},
}};

Json config(const Sensor& sensor, const std::string& unique, const std::string& topic) {
  Json json = {{"name", sensor.name},
               {"unique_id", unique + "_" + sensor.id},
               {"object_id", unique + "_" + sensor.id},
               {"state_topic", topic},
               {"value_template", sensor.value}};
  if (sensor.unit != nullptr) json["unit_of_measurement"] = sensor.unit;
  if (sensor.device_class != nullptr) json["device_class"] = sensor.device_class;
  if (sensor.state_class != nullptr) json["state_class"] = sensor.state_class;
  return json;
}

}  // namespace

HomeAssistant::HomeAssistant(const FleetTopics& topics, GatewayName name, std::string prefix)
    : topics_(topics), name_(std::move(name)), prefix_(std::move(prefix)), budget_(kMessagesPerSecond) {}

std::string HomeAssistant::unique(std::string_view owner) const {
  return "aflguard_" + id_of(name_.fleet) + "_" + (owner == kGateway ? "gateway" : "device-" + id_of(owner));
}

std::string HomeAssistant::topic(std::string_view owner, const Sensor& sensor) const {
  return prefix_ + "/sensor/" + unique(owner) + "/" + sensor.id + "/config";
}

Message HomeAssistant::gateway_message(const Sensor& sensor) const {
  Json json = config(sensor, unique(kGateway), topics_.gateway_metrics());
  json["availability"] = availability(topics_.gateway_status(), kGatewayOnline);
  json["device"] = {{"identifiers", Json::array({unique(kGateway)})},
                    {"name", "Gateway of " + name_.fleet},
                    {"manufacturer", "AFLGuard"},
                    {"model", "gateway, guard " + name_.guard},
                    {"sw_version", name_.software}};
  return {topic(kGateway, sensor), as_bytes(json), true};
}

Message HomeAssistant::device_message(std::string_view device, const Sensor& sensor) const {
  const std::string status = topics_.device_status(device);
  const bool summary = sensor.from == From::kSummary;
  Json json = config(sensor, unique(device), summary ? topics_.device_summary(device) : status);
  // The state of a device that is away is what one wants to see; its temperature is not known.
  if (summary) json["availability"] = availability(topics_.gateway_status(), kGatewayOnline);
  if (!summary && sensor.state_class != nullptr) json["availability"] = availability(status, kDeviceOnline);
  json["device"] = {{"identifiers", Json::array({unique(device)})},
                    {"name", std::string(device)},
                    {"manufacturer", "AFLGuard"},
                    {"model", "device of " + name_.fleet},
                    {"via_device", unique(kGateway)}};
  return {topic(device, sensor), as_bytes(json), true};
}

void HomeAssistant::broker_changed() {
  announced_.clear();
  for (const Sensor& sensor : kGatewaySensors) waiting_.push_back(gateway_message(sensor));
}

void HomeAssistant::add(std::string_view device) {
  if (!announced_.emplace(device).second) return;
  for (const Sensor& sensor : kDeviceSensors) waiting_.push_back(device_message(device, sensor));
}

void HomeAssistant::remove(std::string_view device) {
  const auto found = announced_.find(device);
  if (found == announced_.end()) return;
  announced_.erase(found);
  for (const Sensor& sensor : kDeviceSensors) waiting_.push_back({topic(device, sensor), {}, true});
}

void HomeAssistant::follow(const LiveRegistry::Names& enrolled) {
  std::vector<std::string> gone;
  for (const std::string& device : announced_) {
    if (!enrolled.contains(device)) gone.push_back(device);
  }
  for (const std::string& device : gone) remove(device);
  for (const std::string& device : enrolled) add(device);
}

std::optional<Message> HomeAssistant::next(Time now) {
  if (waiting_.empty() || !budget_.take(now)) return std::nullopt;
  Message message = std::move(waiting_.front());
  waiting_.pop_front();
  return message;
}

}  // namespace aflguard::gateway
