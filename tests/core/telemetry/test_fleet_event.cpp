#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/telemetry/fleet_event.h"
#include "core/telemetry/telemetry_limits.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

const WallTime kTime = parse_rfc3339("2026-01-31T12:00:00Z").value();

}  // namespace

TEST("An event is written as it always was") {
  assert_golden("event.full", to_json(FleetEvent{kTime, "rejected", "pi-9", "too-far: 310.2, bound 18.9"}));
  assert_golden("event.minimal", to_json(FleetEvent{kTime, "started", "", ""}));
  assert_golden("event.non_ascii", to_json(FleetEvent{kTime, "alert", "pi-1", kForeignText + " \xff"}));
  const std::string device(kMaxIdentifierLength, 'x');
  assert_golden("event.limits",
                to_json(FleetEvent{kTime, "store-failing", device, std::string(9999, '\x01')}));
}

TEST("What is read of an event writes the same event, and cannot steer a terminal") {
  for (const char* name : {"event.full", "event.minimal"}) {
    const auto event = read_fleet_event(golden(name));
    TEST_ASSERT_TRUE_MESSAGE(event.has_value(), name);
    TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), to_json(*event).c_str());
  }
  const auto foreign = read_fleet_event(golden("event.non_ascii"));
  for (const char letter : foreign->text) TEST_ASSERT_TRUE(letter >= ' ' && letter <= '~');
  TEST_ASSERT_EQUAL_size_t(kMaxReadText, read_fleet_event(golden("event.limits"))->text.size());
  TEST_ASSERT_FALSE(read_fleet_event(golden("gateway_status.full")).has_value());
}
