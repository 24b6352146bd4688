#include "core/base/rfc3339.h"
#include "core/telemetry/fleet_alert.h"
#include "core/telemetry/telemetry_limits.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

FleetAlert lost_board() {
  return {.time = parse_rfc3339("2026-01-31T12:00:00Z").value(),
          .fleet = "greenhouse",
          .kind = "device-lost",
          .device = "pi-1",
          .text = "device 'pi-1' vanished without saying goodbye"};
}

}  // namespace

TEST("Alerts are written and read as the golden files have them") {
  assert_golden("fleet_alert.full", to_json(lost_board()));
  FleetAlert over = lost_board();
  over.kind = "disk-full";
  over.device = "";
  over.over = true;
  over.text = "5 % of the store's disk is free";
  assert_golden("fleet_alert.over", to_json(over));
  TEST_ASSERT_TRUE(lost_board() == read_fleet_alert(golden("fleet_alert.full")).value());
  TEST_ASSERT_TRUE(over == read_fleet_alert(golden("fleet_alert.over")).value());
  TEST_ASSERT_FALSE(read_fleet_alert(golden("event.full")).has_value());
}

TEST("An alert stays below 4 KB whatever its text is") {
  FleetAlert alert = lost_board();
  alert.text = std::string(10'000, '\x01');
  TEST_ASSERT_TRUE(to_json(alert).size() < kMaxTelemetryBytes);
}
