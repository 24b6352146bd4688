#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fleet/monitor/frame.h"
#include "fleet/monitor/key_decoder.h"
#include "fleet/monitor/sparkline.h"
#include "fleet/view/fleet_state.h"
#include "fleet/view/fleet_watch.h"
#include "fleet/view/trouble.h"

namespace aflguard::view {

enum class SortKey : std::uint8_t { kTrouble, kName, kState, kRejected, kDistance, kUpdates, kSeen };
inline constexpr std::size_t kSortKeys = 7;
[[nodiscard]] std::string_view to_string(SortKey key);

/// How the connection to the broker is, in words; empty while all is well.
struct ConnectionNotice {
  std::string text;
  bool bad = false;
};

/// What `aflguard monitor` shows, and how it answers keys. Knows no terminal and no clock.
class MonitorScreen final {
 public:
  explicit MonitorScreen(Glyphs glyphs) : glyphs_(glyphs) {}

  /// What a key asks the caller for.
  enum class Wish : std::uint8_t {
    kNothing,
    kQuit,
    kTakeBack,       ///< connect again although another viewer has taken the identity
    kDeviceHistory,  ///< of device()
  };
  [[nodiscard]] Wish press(const Key& key, const FleetState& picture, WallTime now);

  /// While true, the caller keeps showing the picture that it had, though it goes on listening.
  [[nodiscard]] bool paused() const { return paused_; }
  /// The device whose page is open; empty when none is.
  [[nodiscard]] const std::string& device() const { return device_; }

  [[nodiscard]] Frame render(const FleetState& picture, ScreenSize size, WallTime now,
                             const ConnectionNotice& connection);

  /// The fleet's past that sparklines show.
  static constexpr std::chrono::minutes kSpan = FleetWatch::kFleetSpan;

 private:
  [[nodiscard]] Wish press_in_filter(const Key& key);
  [[nodiscard]] Wish press_character(char character);
  [[nodiscard]] std::vector<DeviceRow> rows(const FleetState& picture, WallTime now) const;
  void select(const std::vector<DeviceRow>& rows, std::ptrdiff_t step);
  void keep_selection_visible(const std::vector<DeviceRow>& rows, std::size_t visible);

  Glyphs glyphs_;
  SortKey sort_ = SortKey::kTrouble;
  bool reversed_ = false;
  bool paused_ = false;
  bool help_ = false;
  bool editing_filter_ = false;
  std::string filter_;
  std::string selected_;  ///< a device's name, so that the selection stays with it when rows move
  std::string device_;
  std::size_t top_ = 0;
  std::size_t page_ = 10;  ///< rows of the table at the latest render
};

}  // namespace aflguard::view
