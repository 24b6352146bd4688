#include "fleet/view/state_lines.h"

#include <algorithm>

#include "core/base/rfc3339.h"
#include "fleet/view/trouble.h"
#include "fleet/view/view_text.h"

namespace aflguard::view {
namespace {

std::optional<double> own_error(const DeviceRow& row) {
  const auto& status = row.device->status;
  return status && status->local_error ? std::optional(status->local_error->error) : std::nullopt;
}

std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? grouped(*count) : "-";
}

std::string gateway_text(const FleetState& picture, WallTime now) {
  const GatewayPicture& gateway = picture.gateway();
  const Trouble trouble = gateway_trouble(gateway, now);
  return std::string(to_string(gateway.status.state)) + (trouble.why.empty() ? "" : " (" + trouble.why + ")");
}

std::string padded(const std::string& text, std::size_t width) {
  return text.size() < width ? text + std::string(width - text.size(), ' ') : text;
}

}  // namespace

std::string summary_line(const FleetState& picture, WallTime now) {
  const std::vector<DeviceRow> rows = by_trouble(picture, now);
  const FleetTally fleet = tally(rows);
  const GatewayMetrics& metrics = picture.gateway().metrics;
  std::string line = to_rfc3339(now) + " gateway " + gateway_text(picture, now) + ", v" +
                     count_text(metrics.version) + ", " + formatted("%.1f", metrics.updates_per_second) +
                     " updates/s, +" + count_text(metrics.accepted) + " -" + count_text(metrics.rejected) +
                     ", test error " + formatted("%.4f", metrics.test_error) + ", devices " +
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
  // Few fleets measure on the boards' own samples.
  const bool measured =
      std::any_of(rows.begin(), rows.end(), [](const DeviceRow& row) { return own_error(row).has_value(); });
  lines.push_back(padded("device", 24) + " " + padded("state", 12) +
                  "  rejected  accepted  rejected  distance" + (measured ? "  own error" : "") + "  trouble");
  for (const DeviceRow& row : rows) {
    const DevicePicture& device = *row.device;
    const auto right = [](const std::string& text) {
      return text.size() < 8 ? std::string(8 - text.size(), ' ') + text : text;
    };
    const auto ratio = device.summary ? device.summary->distance_ratio : std::nullopt;
    lines.push_back(padded(*row.name, 24) + " " + padded(std::string(to_string(device.state)), 12) + "  " +
                    right(percent(device.rejected_share())) + "  " + right(count_text(device.accepted())) +
                    "  " + right(count_text(device.rejected())) + "  " + right(formatted("%.2f", ratio)) +
                    (measured ? "   " + right(formatted("%.4f", own_error(row))) : "") +
                    (row.trouble.why.empty() ? "" : "  " + row.trouble.why));
  }
  return lines;
}

}  // namespace aflguard::view
