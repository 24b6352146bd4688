#include "core/telemetry/fleet_alert.h"

#include "core/base/identifier.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

constexpr std::string_view kOver = "over";

}  // namespace

std::string to_json(const FleetAlert& alert) {
  OrderedJson json = {{"schema", kFleetAlertSchema},
                      {"time", time_or_null(alert.time)},
                      {"fleet", alert.fleet},
                      {"kind", alert.kind},
                      {"state", alert.over ? kOver : "problem"}};
  if (!alert.device.empty()) json["device"] = alert.device;
  json["text"] = shortened(alert.text, kMaxWrittenText);
  return json_text(json);
}

std::optional<FleetAlert> read_fleet_alert(std::string_view payload) {
  const auto json = parse_message(payload, kFleetAlertSchema);
  if (!json) return std::nullopt;
  return FleetAlert{.time = time_field(*json, "time"),
                    .fleet = text_field(*json, "fleet", kMaxIdentifierLength),
                    .kind = text_field(*json, "kind", kMaxReadName),
                    .device = text_field(*json, "device", kMaxIdentifierLength),
                    .over = text_field(*json, "state", kMaxReadName) == kOver,
                    .text = text_field(*json, "text")};
}

}  // namespace aflguard
