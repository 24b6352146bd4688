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

std::optional<double> as_double(const std::optional<std::uint64_t>& count) {
  return count ? std::optional(static_cast<double>(*count)) : std::nullopt;
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

Json describe(const ReasonCounts& counts) {
  Json json = Json::object();
  for (const auto& [reason, count] : counts) json[reason] = count;
  return json;
}

Json describe(const GatewayPicture& gateway, WallTime now) {
  const GatewayStatus& status = gateway.status;
  const bool heard = status.state != GatewayState::kUnknown;
  Json json = {{"state", heard ? Json(to_string(status.state)) : Json(nullptr)},
               {"message", status.message},
               {"guard", status.guard},
               {"software", status.software},
               {"time", moment(gateway.metrics.time)},
               {"trouble", describe(gateway_trouble(gateway, now))}};
  json["metrics"] = Json::object();
  for (const auto& [name, value] : figures(gateway.metrics)) json["metrics"][name] = figure(value);
  json["rejected_by"] = describe(gateway.metrics.rejected_by);
  json["refused"] = describe(gateway.metrics.refused);
  return json;
}

Json describe(const std::optional<LocalError>& own) {
  if (!own) return nullptr;
  return {{"error", own->error}, {"version", own->version}, {"samples", own->samples}};
}

Json describe(const DeviceRow& row) {
  const DevicePicture& device = *row.device;
  const DeviceSummary summary = device.summary.value_or(DeviceSummary{});
  const DeviceStatus status = device.status.value_or(DeviceStatus{});
  Json json = {{"name", *row.name},
               {"state", to_string(device.state)},
               {"trouble", describe(row.trouble)},
               {"accepted", known(device.accepted())},
               {"rejected", known(device.rejected())},
               {"refused", known(summary.refused)},
               {"rejected_share", known(device.rejected_share())},
               {"distance_ratio", known(summary.distance_ratio)},
               {"distance_trend", known(summary.distance_trend)},
               {"last_seen", moment(device.last_seen())},
               {"version", known(status.version)},
               {"loss", known(status.loss)},
               {"local_error", describe(status.local_error)},
               {"temperature_c", known(status.board.temperature_c)},
               {"memory_free_mb", known(as_double(status.board.memory_free_mb))},
               {"certificate_until", moment(status.certificate_until)},
               {"software", status.software},
               {"message", status.message}};
  json["last"] = nullptr;
  if (summary.last) {
    json["last"] = {{"accepted", summary.last->accepted},        {"reason", summary.last->reason},
                    {"distance", known(summary.last->distance)}, {"bound", known(summary.last->bound)},
                    {"delay", known(summary.last->delay)},       {"version", known(summary.last->version)}};
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
