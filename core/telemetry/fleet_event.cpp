#include "core/telemetry/fleet_event.h"

#include "core/base/identifier.h"
#include "core/base/short_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {

std::string to_json(const FleetEvent& event) {
  OrderedJson json = {
      {"schema", kFleetEventSchema}, {"time", time_or_null(event.time)}, {"kind", event.kind}};
  if (!event.device.empty()) json["device"] = event.device;
  json["text"] = shortened(event.text, kMaxWrittenText);
  return json_text(json);
}

std::optional<FleetEvent> read_fleet_event(std::string_view payload) {
  const auto json = parse_message(payload, kFleetEventSchema);
  if (!json) return std::nullopt;
  return FleetEvent{.time = time_field(*json, "time"),
                    .kind = text_field(*json, "kind", kMaxReadName),
                    .device = text_field(*json, "device", kMaxIdentifierLength),
                    .text = text_field(*json, "text")};
}

}  // namespace aflguard
