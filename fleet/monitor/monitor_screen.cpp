#include "fleet/monitor/monitor_screen.h"

#include <algorithm>

#include "fleet/monitor/screen_parts.h"
#include "fleet/view/view_text.h"

namespace aflguard::view {
namespace {

constexpr std::size_t kMaxFilter = 64;
constexpr ScreenSize kSmallest{40, 10};
constexpr std::size_t kFewestTableRows = 3;
constexpr std::size_t kMostEvents = 8;

bool matches(const DeviceRow& row, const std::string& filter) {
  return filter.empty() || row.name->find(filter) != std::string::npos ||
         to_string(row.device->state).find(filter) != std::string_view::npos;
}

double order_of(const DeviceRow& row, SortKey key) {
  const DevicePicture& device = *row.device;
  switch (key) {
    case SortKey::kState:
      return static_cast<double>(device.state);
    case SortKey::kRejected:
      return device.rejected_share().value_or(-1);
    case SortKey::kDistance:
      return device.summary && device.summary->distance_ratio ? *device.summary->distance_ratio : -1;
    case SortKey::kUpdates:
      return static_cast<double>(device.accepted().value_or(0) + device.rejected().value_or(0));
    case SortKey::kSeen: {
      const auto seen = device.last_seen();
      return seen ? -static_cast<double>(std::chrono::system_clock::to_time_t(*seen)) : 0;
    }
    case SortKey::kTrouble:
    case SortKey::kName:
      return 0;
  }
  return 0;
}

void put_title(Frame& frame, const FleetState& picture, WallTime now) {
  const GatewayPicture& gateway = picture.gateway();
  const Trouble trouble = gateway_trouble(gateway, now);
  std::string left = " AFLGuard  " + picture.fleet() + "   gateway ";
  const bool heard = gateway.status.state != GatewayState::kUnknown;
  if (heard) left += to_string(gateway.status.state);
  if (!trouble.why.empty()) left += (heard ? ": " : "") + trouble.why;
  if (!gateway.status.guard.empty()) left += "   guard " + gateway.status.guard;
  const std::string right = time_of_day(now) + " UTC ";
  frame.put(0, 0, left);
  const std::size_t columns = frame.size().columns;
  if (left.size() + right.size() + 1 < columns) frame.put(0, columns - right.size(), right);
  frame.paint(0, Style::kInverse);
}

}  // namespace

std::string_view to_string(SortKey key) {
  constexpr std::array<std::string_view, kSortKeys> kNames = {"trouble",  "name",    "state", "rejected",
                                                              "distance", "updates", "seen"};
  return kNames[static_cast<std::size_t>(key)];
}

std::vector<DeviceRow> MonitorScreen::rows(const FleetState& picture, WallTime now) const {
  std::vector<DeviceRow> rows = by_trouble(picture, now);
  std::erase_if(rows, [this](const DeviceRow& row) { return !matches(row, filter_); });
  if (sort_ == SortKey::kName) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const DeviceRow& a, const DeviceRow& b) { return *a.name < *b.name; });
  } else if (sort_ != SortKey::kTrouble) {
    std::stable_sort(rows.begin(), rows.end(), [this](const DeviceRow& a, const DeviceRow& b) {
      return order_of(a, sort_) > order_of(b, sort_);
    });
  }
  if (reversed_) std::reverse(rows.begin(), rows.end());
  return rows;
}

void MonitorScreen::select(const std::vector<DeviceRow>& rows, std::ptrdiff_t step) {
  if (rows.empty()) return;
  const auto found =
      std::find_if(rows.begin(), rows.end(), [this](const DeviceRow& row) { return *row.name == selected_; });
  const auto last = static_cast<std::ptrdiff_t>(rows.size()) - 1;
  const std::ptrdiff_t now = found == rows.end() ? (step > 0 ? -1 : 0) : found - rows.begin();
  selected_ = *rows[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(now + step, 0, last))].name;
}

void MonitorScreen::keep_selection_visible(const std::vector<DeviceRow>& rows, std::size_t visible) {
  page_ = std::max<std::size_t>(visible, 1);
  const auto found =
      std::find_if(rows.begin(), rows.end(), [this](const DeviceRow& row) { return *row.name == selected_; });
  if (found == rows.end()) {
    top_ = 0;
    return;
  }
  const auto place = static_cast<std::size_t>(found - rows.begin());
  if (place < top_) top_ = place;
  if (place >= top_ + page_) top_ = place + 1 - page_;
  top_ = std::min(top_, rows.size() > page_ ? rows.size() - page_ : 0);
}

MonitorScreen::Wish MonitorScreen::press_in_filter(const Key& key) {
  if (key.kind == KeyKind::kEnter) {
    editing_filter_ = false;
  } else if (key.kind == KeyKind::kEscape) {
    editing_filter_ = false;
    filter_.clear();
  } else if (key.kind == KeyKind::kBackspace) {
    if (!filter_.empty()) filter_.pop_back();
  } else if (key.kind == KeyKind::kCharacter && filter_.size() < kMaxFilter) {
    filter_ += key.character;
  }
  return Wish::kNothing;
}

MonitorScreen::Wish MonitorScreen::press_character(char character) {
  const auto sort_by = [this](std::size_t step) {
    sort_ = static_cast<SortKey>((static_cast<std::size_t>(sort_) + step) % kSortKeys);
  };
  switch (character) {
    case 'q':
      return Wish::kQuit;
    case 't':
      return Wish::kTakeBack;
    case 's':
      sort_by(1);
      break;
    case 'S':
      sort_by(kSortKeys - 1);
      break;
    case 'r':
      reversed_ = !reversed_;
      break;
    case ' ':
      paused_ = !paused_;
      break;
    case '?':
    case 'h':
      help_ = !help_;
      break;
    case '/':
      editing_filter_ = true;
      break;
    default:
      break;
  }
  return Wish::kNothing;
}

MonitorScreen::Wish MonitorScreen::press(const Key& key, const FleetState& picture, WallTime now) {
  if (editing_filter_) return press_in_filter(key);
  const auto page = static_cast<std::ptrdiff_t>(page_);
  const auto all = static_cast<std::ptrdiff_t>(picture.devices().size());
  switch (key.kind) {
    case KeyKind::kCharacter:
      return press_character(key.character);
    case KeyKind::kEnter:
      if (!device_.empty()) {
        device_.clear();
        return Wish::kNothing;
      }
      if (const auto list = rows(picture, now); selected_.empty()) select(list, 1);
      device_ = selected_;
      return device_.empty() ? Wish::kNothing : Wish::kDeviceHistory;
    case KeyKind::kEscape:
      if (help_) {
        help_ = false;
      } else if (!device_.empty()) {
        device_.clear();
      } else {
        filter_.clear();
      }
      return Wish::kNothing;
    case KeyKind::kUp:
      select(rows(picture, now), -1);
      break;
    case KeyKind::kDown:
      select(rows(picture, now), 1);
      break;
    case KeyKind::kPageUp:
      select(rows(picture, now), -page);
      break;
    case KeyKind::kPageDown:
      select(rows(picture, now), page);
      break;
    case KeyKind::kHome:
      select(rows(picture, now), -all);
      break;
    case KeyKind::kEnd:
      select(rows(picture, now), all + 1);
      break;
    case KeyKind::kBackspace:
      break;
  }
  if (!device_.empty() && device_ != selected_) {
    device_ = selected_;
    return Wish::kDeviceHistory;
  }
  return Wish::kNothing;
}

Frame MonitorScreen::render(const FleetState& picture, ScreenSize size, WallTime now,
                            const ConnectionNotice& connection) {
  Frame frame(size);
  if (size.columns < kSmallest.columns || size.rows < kSmallest.rows) {
    frame.put(0, 0, "too small; q quits");
    return frame;
  }
  const std::vector<DeviceRow> list = rows(picture, now);
  const std::size_t bottom = size.rows - 1;
  put_title(frame, picture, now);
  std::size_t row = 1;
  const bool roomy = size.rows >= 18;
  if (roomy) {
    row = put_fleet(frame, picture, tally(filter_.empty() ? list : by_trouble(picture, now)), now,
                    now - kSpan, glyphs_);
  }
  if (!connection.text.empty()) {
    frame.put(row++, 1, connection.text, connection.bad ? Style::kAlarm : Style::kNotice);
  }
  if (help_) {
    put_help(frame, row + 1);
  } else if (!device_.empty()) {
    put_device_page(frame, row + 1, bottom - row - 1, picture, device_, now, glyphs_);
  } else {
    const std::size_t room = bottom - row;
    const std::size_t events = room > 12 ? std::min(kMostEvents, room / 3) : 0;
    const std::size_t visible = std::max(kFewestTableRows, room - 1 - (events > 0 ? events + 1 : 0));
    put_table_head(frame, row, "by " + std::string(to_string(sort_)) + (reversed_ ? ", reversed" : ""));
    keep_selection_visible(list, visible);
    for (std::size_t i = 0; i < visible && top_ + i < list.size() && row + 1 + i < bottom; ++i) {
      const DeviceRow& device = list[top_ + i];
      put_table_row(frame, row + 1 + i, device, *device.name == selected_, now, glyphs_);
    }
    if (list.empty()) {
      frame.put(row + 1, 1, filter_.empty() ? "no device was heard yet" : "no device matches", Style::kDim);
    }
    if (events > 0) {
      frame.put(bottom - events - 1, 1, "EVENTS", Style::kDim);
      put_events(frame, bottom - events, events, picture, {});
    }
  }
  std::string foot = help_             ? " q quit  ? back"
                     : device_.empty() ? " q quit  ? help  s sort  / filter  space pause  Enter details"
                                       : " q quit  ? help  up, down other devices  space pause  Escape back";
  if (editing_filter_) {
    foot = " filter: " + filter_ + "_";
  } else {
    if (!filter_.empty()) foot = " filter: " + filter_ + " (" + grouped(list.size()) + ")  " + foot;
    if (paused_) foot = " PAUSED " + foot;
  }
  frame.put(bottom, 0, foot);
  frame.paint(bottom, Style::kInverse);
  return frame;
}

}  // namespace aflguard::view
