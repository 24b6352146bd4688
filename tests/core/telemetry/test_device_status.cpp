#include <cmath>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/telemetry/device_status.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;

TEST("A status is one line of JSON with the fields that dashboards read") {
  DeviceStatus status;
  status.state = DeviceState::kTraining;
  status.device = "pi-1";
  status.version = 204;
  status.sequence = 17;
  status.verdict = DeviceStatus::LastVerdict{false, "too-far", 3};
  status.accepted = 15;
  status.rejected = 2;
  status.loss = 0.5;
  status.samples = 32;
  status.software = "0.1.0";
  status.rss_mb = 41.26;
  status.board = {51.54, 310};
  status.time = parse_rfc3339("2026-01-31T12:00:00Z").value();
  status.certificate_until = parse_rfc3339("2028-01-31T12:00:00Z").value();
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-device-status-1","state":"training","device":"pi-1",)"
      R"("time":"2026-01-31T12:00:00Z","version":204,"sequence":17,)"
      R"("verdict":{"accepted":false,"reason":"too-far","delay":3},"accepted":15,"rejected":2,"refused":0,"loss":0.5,)"
      R"("samples":32,"software":"0.1.0","rss_mb":41.3,"temperature_c":51.5,"memory_free_mb":310,)"
      R"("certificate_until":"2028-01-31T12:00:00Z","message":""})",
      to_json(status).c_str());
}

TEST("What is not known or not finite is left out, and broken text stays JSON") {
  DeviceStatus status;
  status.loss = std::nan("");
  status.message = "bad \xff byte\n";
  const std::string json = to_json(status);
  TEST_ASSERT_TRUE(json.find("loss") == std::string::npos && json.find("version") == std::string::npos);
  TEST_ASSERT_TRUE(json.find('\n') == std::string::npos);
  ASSERT_CONTAINS(json, R"(byte\n")");
}

TEST("The longest status there can be stays below 4 KB") {
  DeviceStatus status;
  constexpr std::uint64_t kMost = UINT64_MAX;
  status.device = std::string(kMaxIdentifierLength, 'x');
  status.version = status.sequence = status.accepted = status.rejected = status.refused = kMost;
  status.samples = kMost;
  status.verdict = DeviceStatus::LastVerdict{true, "residual-too-long", kMost};
  status.loss = -1.2345678901234567e-300;
  status.rss_mb = 1e15 + 0.1;
  status.board = {-59.123, kMost};
  status.certificate_until = status.time;
  status.software = "12.345.678-rc1+a-rather-long-name-of-a-build";
  status.message = std::string(100'000, '\x01');
  TEST_ASSERT_LESS_THAN_size_t(4096, to_json(status).size());
}

TEST("The last will says who is lost, and nothing that the broker cannot know") {
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-device-status-1","state":"lost","device":"pi-1","software":"0.1.0",)"
      R"("message":"the device is gone without saying goodbye"})",
      last_will_json("pi-1", "0.1.0").c_str());
}
