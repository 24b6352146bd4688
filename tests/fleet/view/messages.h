#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/rfc3339.h"
#include "fleet/view/fleet_state.h"

namespace aflguard::testing {
using namespace view;

/// Messages as docs/topics.md has them, for a fleet "f".
using Json = nlohmann::json;

inline const WallTime kNow = parse_rfc3339("2026-01-31T12:00:00Z").value();

inline Json status(const std::string& device, const std::string& state) {
  return {{"schema", "aflguard-device-status-1"},
          {"state", state},
          {"device", device},
          {"time", "2026-01-31T11:59:50Z"},
          {"version", 812},
          {"sequence", 97},
          {"verdict", {{"accepted", true}, {"reason", "accepted"}, {"delay", 3}}},
          {"accepted", 90},
          {"rejected", 6},
          {"refused", 0},
          {"loss", 0.31},
          {"samples", 32},
          {"software", "0.1.0"},
          {"rss_mb", 48.2},
          {"temperature_c", 51.5},
          {"memory_free_mb", 310},
          {"certificate_until", "2028-01-31T12:00:00Z"},
          {"message", ""}};
}

inline Json will(const std::string& device) {
  return {{"schema", "aflguard-device-status-1"},
          {"state", "lost"},
          {"device", device},
          {"software", "0.1.0"},
          {"message", "gone without a word"}};
}

inline Json summary(const std::string& device, std::uint64_t accepted, std::uint64_t rejected, double share,
                    double ratio) {
  Json json = {{"schema", "aflguard-device-summary-1"},
               {"device", device},
               {"time", "2026-01-31T12:00:00Z"},
               {"state", "training"},
               {"accepted", accepted},
               {"rejected", rejected},
               {"refused", 0},
               {"recent_rejected_share", share},
               {"last",
                {{"accepted", ratio <= 1},
                 {"reason", ratio <= 1 ? "accepted" : "too-far"},
                 {"distance", 10 * ratio},
                 {"bound", 10.0},
                 {"delay", 3},
                 {"version", 812},
                 {"altered", 0}}},
               {"distance_ratio", ratio},
               {"distance_trend", 0.0},
               {"last_seen", "2026-01-31T12:00:00Z"}};
  json["recent"] = Json::array();
  for (int i = 0; i < 16; ++i) {
    json["recent"].push_back({1769860800000 + i * 1000, 10 * ratio, 10.0, ratio <= 1 ? 1 : 0});
  }
  return json;
}

inline Json gateway_status(const std::string& state = "ready", const std::string& message = "") {
  return {{"schema", "aflguard-gateway-status-1"},
          {"state", state},
          {"fleet", "f"},
          {"guard", "aflguard"},
          {"software", "0.1.0"},
          {"message", message}};
}

inline Json metrics(const std::string& time, double rate, const Json& error) {
  return {{"schema", "aflguard-gateway-metrics-1"},
          {"time", time},
          {"uptime_seconds", 3600},
          {"fleet", "f"},
          {"guard", "aflguard"},
          {"version", 1234},
          {"iteration", 1500},
          {"updates", 1500},
          {"accepted", 1159},
          {"rejected", 341},
          {"rejected_by", {{"too-far", 338}, {"stale", 3}}},
          {"refused", {{"replay", 1}}},
          {"updates_per_second", rate},
          {"mean_delay", 3.1},
          {"delay_histogram", {{"bounds", {0, 1, 2}}, {"counts", {1, 2, 3, 4}}}},
          {"reference_age", 4},
          {"test_error", error},
          {"devices", 2},
          {"queue", 0},
          {"commit_ms", 2.1},
          {"store_free_bytes", 41200000000}};
}

inline Json event(const std::string& kind, const std::string& device, const std::string& text) {
  return {{"schema", "aflguard-event-1"},
          {"time", "2026-01-31T11:59:59Z"},
          {"kind", kind},
          {"device", device},
          {"text", text}};
}

inline void take(FleetState& picture, const std::string& topic, const Json& message, WallTime now = kNow) {
  picture.take("aflguard/v1/f/" + topic, message.dump(), now);
}

inline FleetState empty_picture(const PictureLimits& limits = {}) {
  return FleetState::create("f", "operator", limits).value();
}

/// pi-1 is honest, pi-9 lies, pi-2 is lost.
inline FleetState small_fleet() {
  FleetState picture = empty_picture();
  take(picture, "gateway/status", gateway_status());
  take(picture, "gateway/metrics", metrics("2026-01-31T11:59:58Z", 11.0, 0.0546));
  take(picture, "up/pi-1/status", status("pi-1", "training"));
  take(picture, "up/pi-2/status", status("pi-2", "ready"));
  take(picture, "up/pi-2/status", will("pi-2"));
  take(picture, "up/pi-9/status", status("pi-9", "ready"));
  take(picture, "gateway/devices/pi-1", summary("pi-1", 90, 6, 0.05, 0.65));
  take(picture, "gateway/devices/pi-9", summary("pi-9", 2, 300, 0.97, 12.5));
  take(picture, "events", event("rejected", "pi-9", "too-far: 310.2, bound 18.9"));
  return picture;
}

}  // namespace aflguard::testing
