#include "core/telemetry/message_reader.h"

#include <array>

#include "core/telemetry/message_json.h"

namespace aflguard {
namespace {

using namespace message_json;

/// More reasons, or more figures, than any gateway has.
constexpr std::size_t kMaxEntries = 64;
constexpr std::size_t kMaxNameLength = 40;

view::DeviceState device_state(const Json& json) {
  const std::string name = text(json, "state");
  for (const view::DeviceState state :
       {view::DeviceState::kInit, view::DeviceState::kReady, view::DeviceState::kTraining,
        view::DeviceState::kDisconnected, view::DeviceState::kLost, view::DeviceState::kAlert}) {
    if (name == view::to_string(state)) return state;
  }
  return view::DeviceState::kUnknown;
}

std::map<std::string, std::uint64_t> counts(const Json& json, const char* key) {
  std::map<std::string, std::uint64_t> result;
  const Json* found = find(json, key);
  if (found == nullptr || !found->is_object()) return result;
  for (const auto& [name, value] : found->items()) {
    if (result.size() == kMaxEntries) break;
    if (value.is_number_unsigned())
      result[view::plain_text(name, kMaxNameLength)] = value.get<std::uint64_t>();
  }
  return result;
}

std::optional<view::LastVerdict> last_verdict(const Json& json) {
  const Json* last = find(json, "last");
  if (last == nullptr || !last->is_object()) return std::nullopt;
  const Json* accepted = find(*last, "accepted");
  return view::LastVerdict{.accepted = accepted != nullptr && accepted->is_boolean() && accepted->get<bool>(),
                           .reason = text(*last, "reason", kMaxNameLength),
                           .distance = number(*last, "distance"),
                           .bound = number(*last, "bound"),
                           .delay = count(*last, "delay"),
                           .version = count(*last, "version")};
}

std::vector<view::JudgedDistance> recent_distances(const Json& json) {
  std::vector<view::JudgedDistance> result;
  const Json* recent = find(json, "recent");
  if (recent == nullptr || !recent->is_array()) return result;
  for (const Json& entry : *recent) {
    if (result.size() == view::kMaxRecent) break;
    if (!entry.is_array() || entry.size() < 4) continue;
    const auto time = as_milliseconds(&entry[0]);
    if (!time) continue;
    const auto accepted = as_number(&entry[3]);
    result.push_back({*time, as_number(&entry[1]), as_number(&entry[2]), accepted && *accepted != 0});
  }
  return result;
}

}  // namespace

std::optional<StatusMessage> read_device_status(std::string_view payload) {
  const auto json = parse(payload, "aflguard-device-status-1");
  if (!json) return std::nullopt;
  StatusMessage message;
  message.state = device_state(*json);
  message.words = {.time = time(*json, "time"),
                   .version = count(*json, "version"),
                   .samples = count(*json, "samples"),
                   .accepted = count(*json, "accepted"),
                   .rejected = count(*json, "rejected"),
                   .loss = number(*json, "loss"),
                   .temperature_c = number(*json, "temperature_c"),
                   .memory_free_mb = number(*json, "memory_free_mb"),
                   .rss_mb = number(*json, "rss_mb"),
                   .certificate_until = time(*json, "certificate_until"),
                   .software = text(*json, "software", kMaxNameLength),
                   .message = text(*json, "message")};
  return message;
}

std::optional<SummaryMessage> read_device_summary(std::string_view payload) {
  const auto json = parse(payload, "aflguard-device-summary-1");
  if (!json) return std::nullopt;
  SummaryMessage message;
  message.state = device_state(*json);
  message.record = {.accepted = count(*json, "accepted"),
                    .rejected = count(*json, "rejected"),
                    .refused = count(*json, "refused"),
                    .recent_rejected_share = number(*json, "recent_rejected_share"),
                    .distance_ratio = number(*json, "distance_ratio"),
                    .distance_trend = number(*json, "distance_trend"),
                    .last = last_verdict(*json),
                    .recent = recent_distances(*json),
                    .last_seen = time(*json, "last_seen")};
  return message;
}

std::optional<ReportedGateway> read_gateway_status(std::string_view payload) {
  const auto json = parse(payload, "aflguard-gateway-status-1");
  if (!json) return std::nullopt;
  return ReportedGateway{.state = text(*json, "state", kMaxNameLength),
                         .message = text(*json, "message"),
                         .guard = text(*json, "guard", kMaxNameLength),
                         .software = text(*json, "software", kMaxNameLength)};
}

bool read_gateway_metrics(std::string_view payload, view::GatewayPicture& gateway) {
  const auto json = parse(payload, "aflguard-gateway-metrics-1");
  if (!json) return false;
  gateway.time = time(*json, "time");
  gateway.figures.clear();
  for (const auto& [name, value] : json->items()) {
    if (gateway.figures.size() == kMaxEntries) break;
    if (const auto figure = as_number(&value))
      gateway.figures[view::plain_text(name, kMaxNameLength)] = *figure;
  }
  gateway.rejected_by = counts(*json, "rejected_by");
  gateway.refused = counts(*json, "refused");
  gateway.delay_bounds.clear();
  gateway.delay_counts.clear();
  if (const Json* histogram = find(*json, "delay_histogram")) {
    const Json* bounds = find(*histogram, "bounds");
    const Json* numbers = find(*histogram, "counts");
    if (bounds != nullptr && numbers != nullptr && bounds->is_array() && numbers->is_array() &&
        bounds->size() <= kMaxEntries && numbers->size() == bounds->size() + 1) {
      for (const Json& bound : *bounds) gateway.delay_bounds.push_back(as_number(&bound).value_or(0));
      for (const Json& n : *numbers) {
        gateway.delay_counts.push_back(n.is_number_unsigned() ? n.get<std::uint64_t>() : 0);
      }
    }
  }
  return true;
}

std::optional<view::FleetEvent> read_event(std::string_view payload) {
  const auto json = parse(payload, "aflguard-event-1");
  if (!json) return std::nullopt;
  return view::FleetEvent{.time = time(*json, "time"),
                          .kind = text(*json, "kind", kMaxNameLength),
                          .device = text(*json, "device", 64),
                          .text = text(*json, "text")};
}

}  // namespace aflguard
