#pragma once

#include <string>

#include "fleet/monitor/frame.h"
#include "fleet/monitor/sparkline.h"
#include "fleet/view/fleet_state.h"
#include "fleet/view/trouble.h"

namespace aflguard::view {

/// The parts of the monitor's screen. Each writes into `frame` from `row` on and returns the row behind.
[[nodiscard]] Style style_of(TroubleLevel level);
[[nodiscard]] Style style_of(DeviceState state);

/// The fleet's figures and sparklines.
std::size_t put_fleet(Frame& frame, const FleetState& picture, const FleetTally& fleet, WallTime now,
                      WallTime from, Glyphs glyphs);

/// The table's head, and one device.
void put_table_head(Frame& frame, std::size_t row, const std::string& sorted_by);
void put_table_row(Frame& frame, std::size_t row, const DeviceRow& device, bool selected, WallTime now,
                   Glyphs glyphs);

/// The latest events, newest first, in `rows` rows; of one device only where `device` is not empty.
void put_events(Frame& frame, std::size_t row, std::size_t rows, const FleetState& picture,
                const std::string& device);

/// Everything that is known of one device.
void put_device_page(Frame& frame, std::size_t row, std::size_t rows, const FleetState& picture,
                     const std::string& name, WallTime now, Glyphs glyphs);

void put_help(Frame& frame, std::size_t row);

}  // namespace aflguard::view
