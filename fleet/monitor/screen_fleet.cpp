#include <algorithm>

#include "core/base/plain_text.h"
#include "fleet/monitor/screen_parts.h"
#include "fleet/view/view_text.h"

namespace aflguard::view {
namespace {

constexpr std::size_t kWide = 110;

/// "name value" pairs on one line, as many as fit.
class FactLine final {
 public:
  FactLine(Frame& frame, std::size_t row) : frame_(frame), row_(row) {}

  void add(const std::string& name, const std::string& value, Style style = Style::kBold) {
    const std::size_t width = name.size() + 1 + value.size();
    if (column_ + width > frame_.size().columns) return;
    column_ = frame_.put(row_, column_, name + " ", Style::kDim);
    column_ = frame_.put(row_, column_, value, style) + 3;
  }

 private:
  Frame& frame_;
  std::size_t row_;
  std::size_t column_ = 1;
};

std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? grouped(*count) : "-";
}

std::string reasons(const ReasonCounts& counts) {
  std::vector<std::pair<std::uint64_t, std::string>> sorted;
  for (const auto& [name, count] : counts) sorted.emplace_back(count, name);
  std::sort(sorted.rbegin(), sorted.rend());
  std::string text;
  for (const auto& [count, name] : sorted) {
    text += (text.empty() ? "" : ", ") + name + " " + grouped(count);
  }
  return text.empty() ? "none" : text;
}

/// The mean of the last moments: boards that train in step make a rate jump between nothing and much.
std::optional<double> lately(const TimeSeries& series, WallTime now) {
  constexpr std::chrono::seconds kMoments{10};
  const auto mean = series.means(now - kMoments, now + kMoments, 1).front();
  return mean ? mean : series.latest();
}

std::string versions_old(const GatewayMetrics& metrics) {
  const std::string age = count_text(metrics.reference_age);
  return age + (age == "1" ? " version old" : " versions old");
}

struct Place {
  std::size_t row;
  std::size_t column;
  std::size_t width;
};

struct Curve {
  const char* name;
  const TimeSeries& series;
  std::string latest;
  bool from_zero;
};

struct Span {
  WallTime from;
  WallTime to;
};

void put_spark(Frame& frame, const Place& place, const Curve& curve, const Span& span, Glyphs glyphs) {
  constexpr std::size_t kName = 12;
  const std::size_t taken = kName + curve.latest.size() + 2;
  const auto means = curve.series.means(span.from, span.to, place.width > taken ? place.width - taken : 0);
  (void)frame.put(place.row, place.column, curve.name, Style::kDim);
  const std::size_t end =
      frame.put(place.row, place.column + kName, sparkline(means, curve.from_zero, glyphs), Style::kAccent);
  (void)frame.put(place.row, end + 1, curve.latest, Style::kBold);
}

Style share_style(double share) {
  if (share >= kSuspiciousShare) return Style::kAlarm;
  return share >= 0.2 ? Style::kWarning : Style::kPlain;
}

/// Columns of the table: where each begins, and from which width on it is shown.
struct Column {
  const char* name;
  std::size_t width;
  std::size_t needs;  ///< screen columns
  bool right;         ///< aligned
};

constexpr Column kColumns[] = {
    {"STATE", 12, 0, false}, {"REJECTED", 8, 0, true}, {"ACC", 8, 80, true},
    {"REJ", 7, 80, true},    {"DIST", 6, 60, true},    {"DISTANCES", 16, 112, false},
    {"DELAY", 5, 126, true}, {"LOSS", 7, 136, true},   {"SEEN", 6, 90, true},
};
constexpr std::size_t kNameWidth = 16;

}  // namespace

Style style_of(TroubleLevel level) {
  switch (level) {
    case TroubleLevel::kNone:
      return Style::kPlain;
    case TroubleLevel::kNotice:
      return Style::kNotice;
    case TroubleLevel::kWarning:
      return Style::kWarning;
    case TroubleLevel::kAlarm:
      return Style::kAlarm;
  }
  return Style::kPlain;
}

Style style_of(DeviceState state) {
  switch (state) {
    case DeviceState::kReady:
    case DeviceState::kTraining:
      return Style::kGood;
    case DeviceState::kLost:
      return Style::kWarning;
    case DeviceState::kAlert:
      return Style::kAlarm;
    default:
      return Style::kDim;
  }
}

std::size_t put_fleet(Frame& frame, const FleetState& picture, const FleetTally& fleet, WallTime now,
                      WallTime from, Glyphs glyphs) {
  const GatewayMetrics& metrics = picture.gateway().metrics;
  std::size_t row = 1;
  FactLine devices(frame, row++);
  devices.add("devices", grouped(fleet.devices));
  devices.add("connected", grouped(fleet.connected));
  devices.add("suspicious", grouped(fleet.suspicious), fleet.suspicious > 0 ? Style::kAlarm : Style::kBold);
  devices.add("lost", grouped(fleet.lost), fleet.lost > 0 ? Style::kWarning : Style::kBold);
  devices.add("alert", grouped(fleet.alert), fleet.alert > 0 ? Style::kAlarm : Style::kBold);
  FactLine model(frame, row++);
  model.add("model", "v" + count_text(metrics.version));
  model.add("accepted", count_text(metrics.accepted));
  model.add("rejected", count_text(metrics.rejected));
  model.add("mean delay", formatted("%.1f", metrics.mean_delay));
  model.add("reference update", versions_old(metrics));
  FactLine engine(frame, row++);
  engine.add("rejected by", reasons(metrics.rejected_by));
  engine.add("refused", reasons(metrics.refused));
  engine.add("queue", count_text(metrics.queue));
  engine.add("commit", formatted("%.1f ms", metrics.commit_ms));
  if (const auto free = metrics.store_free_bytes) {
    engine.add("disk free", byte_size(static_cast<double>(*free)));
  }
  const std::size_t width = frame.size().columns - 2;
  const bool wide = frame.size().columns >= kWide;
  const std::size_t half = wide ? width / 2 : width;
  const TimeSeries& error = picture.test_error();
  put_spark(frame, {row, 1, half},
            {"test error", error, formatted("%.4f", error.latest()), /*from_zero=*/false}, {from, now},
            glyphs);
  if (!wide) ++row;
  const TimeSeries& rate = picture.updates_per_second();
  put_spark(frame, wide ? Place{row, 1 + half + 1, half - 1} : Place{row, 1, half},
            {"updates/s", rate, formatted("%.1f", lately(rate, now)), /*from_zero=*/true}, {from, now},
            glyphs);
  return row + 1;
}

void put_table_head(Frame& frame, std::size_t row, const std::string& sorted_by) {
  std::size_t at = frame.put(row, 1, "DEVICE", Style::kDim);
  at = 1 + kNameWidth + 1;
  for (const Column& column : kColumns) {
    if (frame.size().columns < column.needs) continue;
    const std::string name = column.name;
    const std::size_t shift = column.right && column.width > name.size() ? column.width - name.size() : 0;
    frame.put(row, at + shift, name, Style::kDim);
    at += column.width + 1;
  }
  frame.put(row, at, "WHY (" + sorted_by + ")", Style::kDim);
}

void put_table_row(Frame& frame, std::size_t row, const DeviceRow& device, bool selected, WallTime now,
                   Glyphs glyphs) {
  const DevicePicture& picture = *device.device;
  const Style name_style =
      device.trouble.level == TroubleLevel::kNone ? Style::kBold : style_of(device.trouble.level);
  frame.put(row, 0, selected ? ">" : " ", Style::kBold);
  frame.put(row, 1, plain_text(*device.name, kNameWidth), name_style);
  std::size_t at = 1 + kNameWidth + 1;
  const auto cell = [&](const Column& column, const std::string& text, Style style) {
    if (frame.size().columns < column.needs) return;
    const std::string cut = text.substr(0, column.width);
    frame.put(row, at + (column.right ? column.width - cut.size() : 0), cut, style);
    at += column.width + 1;
  };
  const auto share = picture.rejected_share();
  const DeviceSummary* summary = picture.summary ? &*picture.summary : nullptr;
  const auto ratio = summary != nullptr ? summary->distance_ratio : std::nullopt;
  cell(kColumns[0], std::string(to_string(picture.state)), style_of(picture.state));
  cell(kColumns[1], percent(share), share_style(share.value_or(0)));
  cell(kColumns[2], count_text(picture.accepted()), Style::kPlain);
  cell(kColumns[3], count_text(picture.rejected()), Style::kPlain);
  cell(kColumns[4], formatted("%.2f", ratio), ratio.value_or(0) > 1 ? Style::kAlarm : Style::kPlain);
  if (frame.size().columns >= kColumns[5].needs) {
    std::vector<std::optional<double>> ratios;
    if (summary != nullptr) {
      for (const JudgedDistance& judged : summary->recent) ratios.push_back(judged.ratio());
    }
    // The bound is in the middle: above it, updates are rejected.
    frame.put(row, at, sparkline(ratios, 0, 2, glyphs), share_style(share.value_or(0)));
    at += kColumns[5].width + 1;
  }
  cell(kColumns[6], summary != nullptr && summary->last ? count_text(summary->last->delay) : "-",
       Style::kPlain);
  cell(kColumns[7], picture.status ? formatted("%.3f", picture.status->loss) : "-", Style::kPlain);
  const auto seen = picture.last_seen();
  cell(kColumns[8], seen ? short_duration(std::chrono::floor<std::chrono::seconds>(now - *seen)) : "-",
       Style::kDim);
  frame.put(row, at, device.trouble.why, style_of(device.trouble.level));
}

void put_events(Frame& frame, std::size_t row, std::size_t rows, const FleetState& picture,
                const std::string& device) {
  const auto& events = picture.events();
  std::size_t shown = 0;
  for (auto event = events.rbegin(); event != events.rend() && shown < rows; ++event) {
    if (!device.empty() && event->device != device) continue;
    const std::size_t at = row + shown++;
    std::size_t column = frame.put(at, 1, event->time ? time_of_day(*event->time) : "--:--:--", Style::kDim);
    const bool bad = event->kind == "rejected" || event->kind == "refused" || event->kind == "alert" ||
                     event->kind == "lost" || event->kind == "store-failing";
    column = frame.put(at, column + 1, event->kind, bad ? Style::kWarning : Style::kGood);
    column = std::max<std::size_t>(column + 1, 24);
    if (!event->device.empty()) column = frame.put(at, column, event->device, Style::kBold) + 1;
    frame.put(at, column, event->text);
  }
  if (shown == 0) frame.put(row, 1, "no events yet", Style::kDim);
}

}  // namespace aflguard::view
