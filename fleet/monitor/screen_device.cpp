#include <algorithm>

#include "core/base/rfc3339.h"
#include "fleet/monitor/screen_parts.h"
#include "fleet/view/view_text.h"

namespace aflguard::view {
namespace {

constexpr std::size_t kNameColumn = 1;
constexpr std::size_t kValueColumn = 22;

struct Fact {
  const char* name;
  std::string value;
  Style style = Style::kPlain;
};

std::string number(const std::optional<std::uint64_t>& count) {
  return count ? grouped(*count) : "-";
}

/// What the board reports of itself; few report everything.
std::string board_text(const DeviceStatus& status) {
  std::string text;
  const auto add = [&](const char* format, const std::optional<double>& value) {
    if (value) text += (text.empty() ? "" : ", ") + formatted(format, *value);
  };
  add("%.1f C", status.board.temperature_c);
  if (const auto free = status.board.memory_free_mb) add("memory free %.0f MB", static_cast<double>(*free));
  add("process %.1f MB", status.rss_mb);
  return text.empty() ? "-" : text;
}

std::vector<Fact> facts(const DevicePicture& device, const Trouble& trouble, WallTime now) {
  const DeviceStatus status = device.status.value_or(DeviceStatus{});
  const DeviceSummary summary = device.summary.value_or(DeviceSummary{});
  std::vector<Fact> list = {
      {"state", std::string(to_string(device.state)), style_of(device.state)},
      {"trouble", trouble.why.empty() ? "none" : trouble.why, style_of(trouble.level)},
      {"accepted, rejected", number(device.accepted()) + ", " + number(device.rejected()) + " (lately " +
                                 percent(device.rejected_share()) + " rejected)"},
      {"refused", number(summary.refused)},
      {"distance / bound", formatted("%.2f", summary.distance_ratio) + ", change per update " +
                               formatted("%+.4f", summary.distance_trend)},
  };
  if (summary.last) {
    list.push_back({"last verdict",
                    summary.last->reason + ", distance " + formatted("%.3g", summary.last->distance) +
                        ", bound " + formatted("%.3g", summary.last->bound) + ", delay " +
                        number(summary.last->delay),
                    summary.last->accepted ? Style::kGood : Style::kWarning});
  }
  list.push_back({"trains on", "version " + number(status.version) + ", loss " +
                                   formatted("%.4f", status.loss) + ", " + number(status.samples) +
                                   " samples"});
  if (const auto& own = status.local_error) {
    list.push_back({"own samples", "error " + formatted("%.4f", own->error) + " on " + number(own->samples) +
                                       " held back, version " + number(own->version)});
  }
  list.push_back({"board", board_text(status)});
  list.push_back({"software", status.software.empty() ? "-" : status.software});
  if (status.certificate_until) {
    list.push_back({"certificate", "ends " + to_rfc3339(*status.certificate_until)});
  }
  if (const auto seen = device.last_seen()) {
    list.push_back({"last heard", to_rfc3339(*seen) + ", " +
                                      short_duration(std::chrono::floor<std::chrono::seconds>(now - *seen)) +
                                      " ago"});
  }
  if (!status.message.empty()) list.push_back({"says", status.message});
  return list;
}

/// The past, as far as the gateway sent it, and then every one of the latest verdicts.
std::vector<std::optional<double>> ratios(const FleetState& picture, const std::string& name,
                                          const DevicePicture& device, std::size_t columns) {
  const std::vector<JudgedDistance> recent =
      device.summary ? device.summary->recent : std::vector<JudgedDistance>();
  std::vector<std::optional<double>> values;
  if (const auto& history = picture.device_history(); history && history->device == name) {
    for (const JudgedDistance& point : history->points) {
      if (recent.empty() || point.time < recent.front().time) values.push_back(point.ratio());
    }
  }
  for (const JudgedDistance& point : recent) values.push_back(point.ratio());
  if (values.size() > columns)
    values.erase(values.begin(), values.end() - static_cast<std::ptrdiff_t>(columns));
  return values;
}

}  // namespace

void put_device_page(Frame& frame, std::size_t row, std::size_t rows, const FleetState& picture,
                     const std::string& name, WallTime now, Glyphs glyphs) {
  const std::size_t end = row + rows;
  frame.put(row, kNameColumn, name, Style::kBold);
  row += 1;
  const auto found = picture.devices().find(name);
  if (found == picture.devices().end()) {
    frame.put(row, kNameColumn, "this device is gone", Style::kWarning);
    return;
  }
  const Trouble trouble = trouble_of(found->second, now);
  for (const Fact& fact : facts(found->second, trouble, now)) {
    if (row >= end) return;
    frame.put(row, kNameColumn, fact.name, Style::kDim);
    frame.put(row++, kValueColumn, fact.value, fact.style);
  }
  if (row + 1 >= end) return;
  const std::size_t columns =
      frame.size().columns > kValueColumn + 1 ? frame.size().columns - kValueColumn - 1 : 0;
  frame.put(row, kNameColumn, "distances, bound 1", Style::kDim);
  frame.put(row, kValueColumn, sparkline(ratios(picture, name, found->second, columns), 0, 2, glyphs),
            trouble.suspicious ? Style::kAlarm : Style::kAccent);
  row += 2;
  if (row >= end) return;
  put_events(frame, row, end - row, picture, name);
}

void put_help(Frame& frame, std::size_t row) {
  constexpr std::pair<const char*, const char*> kLines[] = {
      {"up, down, PgUp, PgDn", "choose a device"},
      {"Home, End", "the first, the last"},
      {"Enter", "everything about it; Escape goes back"},
      {"s, S", "sort by the next, the one before"},
      {"r", "turn the order round"},
      {"/", "show devices whose name or state has ...; Escape ends it"},
      {"space", "pause; the screen stands still, nothing is lost"},
      {"t", "take the identity back when another viewer has taken it"},
      {"?", "this"},
      {"q", "quit"},
  };
  frame.put(row++, 1, "Keys", Style::kBold);
  for (const auto& [key, meaning] : kLines) {
    frame.put(row, 3, std::string_view(key), Style::kAccent);
    frame.put(row++, 26, std::string_view(meaning));
  }
  row += 1;
  frame.put(row++, 1,
            "REJECTED is the share of its latest updates that the guard rejected; DIST their mean "
            "distance to the",
            Style::kDim);
  frame.put(row++, 1, "server's own update, as a part of the bound: above 1 they are rejected.", Style::kDim);
}

}  // namespace aflguard::view
