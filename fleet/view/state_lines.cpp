#include "fleet/view/state_lines.h"

#include "core/base/rfc3339.h"
#include "fleet/view/trouble.h"
#include "fleet/view/view_text.h"

namespace aflguard::view {
namespace {

std::string count_of(const GatewayPicture& gateway, const char* name) {
  const auto figure = gateway.figure(name);
  return figure && *figure >= 0 ? grouped(static_cast<std::uint64_t>(*figure)) : "-";
}

std::string gateway_words(const FleetState& picture, WallTime now) {
  const GatewayPicture& gateway = picture.gateway();
  const Trouble trouble = gateway_trouble(gateway, now);
  return (gateway.state.empty() ? "unknown" : gateway.state) +
         (trouble.why.empty() ? "" : " (" + trouble.why + ")");
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

}  // namespace

std::string summary_line(const FleetState& picture, WallTime now) {
  const std::vector<DeviceRow> rows = by_trouble(picture, now);
  const FleetTally fleet = tally(rows);
  const GatewayPicture& gateway = picture.gateway();
  std::string line = to_rfc3339(now) + " gateway " + gateway_words(picture, now) + ", v" +
                     count_of(gateway, "version") + ", " +
                     formatted("%.1f", gateway.figure("updates_per_second")) + " updates/s, +" +
                     count_of(gateway, "accepted") + " -" + count_of(gateway, "rejected") + ", test error " +
                     formatted("%.4f", gateway.figure("test_error")) + ", devices " +
                     std::to_string(fleet.connected) + "/" + std::to_string(fleet.devices) + " connected";
  if (fleet.lost > 0) line += ", " + std::to_string(fleet.lost) + " lost";
  if (fleet.suspicious > 0) line += ", " + std::to_string(fleet.suspicious) + " suspicious";
  if (!rows.empty() && rows.front().trouble.level >= TroubleLevel::kWarning) {
    line += "; worst: " + *rows.front().name + ", " + rows.front().trouble.why;
  }
  return line;
}

std::string event_line(const FleetEvent& event) {
  return (event.time ? to_rfc3339(*event.time) : "-") + " event " + event.kind +
         (event.device.empty() ? "" : " " + event.device) + (event.text.empty() ? "" : ": " + event.text);
}

std::vector<std::string> status_lines(const FleetState& picture, WallTime now) {
  std::vector<std::string> lines = {"fleet " + picture.fleet() + ": " + summary_line(picture, now)};
  const std::vector<DeviceRow> rows = by_trouble(picture, now);
  if (rows.empty()) return lines;
  lines.push_back(padded("device", 24) + " " + padded("state", 12) +
                  "  rejected  accepted  rejected  distance"
                  "  trouble");
  for (const DeviceRow& row : rows) {
    const DevicePicture& device = *row.device;
    const auto right = [](const std::string& text) {
      return text.size() < 8 ? std::string(8 - text.size(), ' ') + text : text;
    };
    const auto number = [](const std::optional<std::uint64_t>& count) {
      return count ? grouped(*count) : "-";
    };
    const auto ratio = device.record ? device.record->distance_ratio : std::nullopt;
    lines.push_back(padded(*row.name, 24) + " " + padded(std::string(to_string(device.state)), 12) + "  " +
                    right(percent(device.rejected_share())) + "  " + right(number(device.accepted())) + "  " +
                    right(number(device.rejected())) + "  " + right(formatted("%.2f", ratio)) +
                    (row.trouble.why.empty() ? "" : "  " + row.trouble.why));
  }
  return lines;
}

}  // namespace aflguard::view
