#include <cmath>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/telemetry/device_summary.h"
#include "core/telemetry/telemetry_limits.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

const WallTime kWall = parse_rfc3339("2026-01-31T12:00:01Z").value();

DeviceSummary minimal(const std::string& device) {
  return {.device = device, .time = kWall, .accepted = 5, .rejected = 7, .refused = 0};
}

}  // namespace

TEST("A summary is written as it always was") {
  assert_golden("device_summary.minimal", to_json(minimal("pi-1")));
  DeviceSummary foreign = minimal("Füllstand \xff");
  foreign.last_seen = from_milliseconds(1'769'860'800'999);
  assert_golden("device_summary.non_ascii", to_json(foreign));
}

TEST("What is read of a summary writes the same summary") {
  for (const char* name : {"device_summary.full", "device_summary.minimal"}) {
    const auto summary = read_device_summary(golden(name));
    TEST_ASSERT_TRUE_MESSAGE(summary.has_value(), name);
    TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), to_json(*summary).c_str());
  }
  const auto full = read_device_summary(golden("device_summary.full"));
  TEST_ASSERT_EQUAL_size_t(6, full->recent.size());
  TEST_ASSERT_FALSE(full->recent[1].distance.has_value());
  TEST_ASSERT_EQUAL_INT64(1'769'860'798'000, to_milliseconds(full->recent[1].time));
  TEST_ASSERT_EQUAL_STRING("accepted", full->last->reason.c_str());
}

TEST("The longest summary is read, too") {
  const std::string text = golden("device_summary.limits");
  TEST_ASSERT_LESS_THAN_size_t(kMaxTelemetryBytes, text.size());
  const auto summary = read_device_summary(text);
  TEST_ASSERT_EQUAL_size_t(kMaxRecentVerdicts, summary->recent.size());
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, *summary->refused);
  TEST_ASSERT_TRUE(summary->state == DeviceState::kDisconnected);
}

TEST("A distance that is not a number is null, and without a bound there is no ratio") {
  DeviceSummary summary = minimal("pi-1");
  summary.recent = {
      {kWall, std::nan(""), INFINITY, false}, {kWall, 0.5, 0.0, true}, {kWall, 5.0, 10.0, true}};
  ASSERT_CONTAINS(to_json(summary), R"("recent":[[1769860801000,null,null,0],[1769860801000,0.5,0.0,1],)");
  TEST_ASSERT_FALSE(summary.recent[1].ratio().has_value());
  TEST_ASSERT_EQUAL_DOUBLE(0.5, *summary.recent[2].ratio());
}

TEST("A moment beyond the system clock is its last, and changes nothing else") {
  const std::string text =
      R"({"schema":"aflguard-device-summary-1","recent":[[253402300799000,1,2,1],[1e300,1,2,1],[-1,1,2,1]]})";
  const auto summary = read_device_summary(text);
  TEST_ASSERT_EQUAL_size_t(1, summary->recent.size());
  TEST_ASSERT_TRUE(summary->recent[0].time > kWall);
}
