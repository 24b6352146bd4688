#include "fleet/view/state_document.h"

#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"
#include "fleet/view/trouble.h"

namespace aflguard::view {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json known(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json moment(const std::optional<WallTime>& time) {
  return time ? Json(to_rfc3339(*time)) : Json(nullptr);
}

/// A whole number as one.
Json figure(double value) {
  constexpr double kExact = 9007199254740992.0;
  const bool whole =
      value >= 0 && value <= kExact && value == static_cast<double>(static_cast<std::uint64_t>(value));
  return whole ? Json(static_cast<std::uint64_t>(value)) : Json(value);
}

Json describe(const Trouble& trouble) {
  return {{"level", to_string(trouble.level)},
          {"score", trouble.score},
          {"suspicious", trouble.suspicious},
          {"why", trouble.why}};
}

Json describe(const GatewayPicture& gateway, WallTime now) {
  Json json = {{"state", gateway.state.empty() ? Json(nullptr) : Json(gateway.state)},
               {"message", gateway.message},
               {"guard", gateway.guard},
               {"software", gateway.software},
               {"time", moment(gateway.time)},
               {"trouble", describe(gateway_trouble(gateway, now))}};
  json["metrics"] = Json::object();
  for (const auto& [name, value] : gateway.figures) json["metrics"][name] = figure(value);
  json["rejected_by"] = gateway.rejected_by;
  json["refused"] = gateway.refused;
  return json;
}

Json describe(const DeviceRow& row) {
  const DevicePicture& device = *row.device;
  const DeviceRecord record = device.record.value_or(DeviceRecord{});
  const ReportedStatus words = device.words.value_or(ReportedStatus{});
  Json json = {{"name", *row.name},
               {"state", to_string(device.state)},
               {"trouble", describe(row.trouble)},
               {"accepted", known(device.accepted())},
               {"rejected", known(device.rejected())},
               {"refused", known(record.refused)},
               {"rejected_share", known(device.rejected_share())},
               {"distance_ratio", known(record.distance_ratio)},
               {"distance_trend", known(record.distance_trend)},
               {"last_seen", moment(device.last_seen())},
               {"version", known(words.version)},
               {"loss", known(words.loss)},
               {"temperature_c", known(words.temperature_c)},
               {"memory_free_mb", known(words.memory_free_mb)},
               {"certificate_until", moment(words.certificate_until)},
               {"software", words.software},
               {"message", words.message}};
  json["last"] = nullptr;
  if (record.last) {
    json["last"] = {{"accepted", record.last->accepted},        {"reason", record.last->reason},
                    {"distance", known(record.last->distance)}, {"bound", known(record.last->bound)},
                    {"delay", known(record.last->delay)},       {"version", known(record.last->version)}};
  }
  return json;
}

Json describe(const FleetEvent& event) {
  Json json = {{"time", moment(event.time)}, {"kind", event.kind}};
  if (!event.device.empty()) json["device"] = event.device;
  json["text"] = event.text;
  return json;
}

}  // namespace

std::string picture_document(const FleetState& picture, WallTime now) {
  const std::vector<DeviceRow> rows = by_trouble(picture, now);
  const FleetTally fleet = tally(rows);
  Json json = {{"schema", "aflguard-status-1"},
               {"time", to_rfc3339(now)},
               {"fleet", picture.fleet()},
               {"gateway", describe(picture.gateway(), now)},
               {"tally",
                {{"devices", fleet.devices},
                 {"connected", fleet.connected},
                 {"suspicious", fleet.suspicious},
                 {"lost", fleet.lost},
                 {"alert", fleet.alert}}}};
  json["devices"] = Json::array();
  for (const DeviceRow& row : rows) json["devices"].push_back(describe(row));
  json["events"] = Json::array();
  for (const FleetEvent& event : picture.events()) json["events"].push_back(describe(event));
  json["messages"] = {{"received", picture.counters().messages},
                      {"ignored", picture.counters().ignored},
                      {"left_out", picture.counters().left_out}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace aflguard::view
