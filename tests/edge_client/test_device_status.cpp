#include <cmath>

#include "edge_client/device_status.h"
#include "tests/support/test.h"

using namespace aflguard;

TEST("A status is one line of JSON with the fields that dashboards read") {
  DeviceStatus status;
  status.state = DeviceState::kTraining;
  status.device = "pi-1";
  status.version = 204;
  status.sequence = 17;
  status.verdict = DeviceStatus::LastVerdict{false, "too-far"};
  status.accepted = 15;
  status.rejected = 2;
  status.loss = 0.5;
  status.samples = 32;
  status.software = "aflguard-client 1";
  status.rss_mb = 41.26;
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-device-status-1","state":"training","device":"pi-1","version":204,"sequence":17,)"
      R"("verdict":{"accepted":false,"reason":"too-far"},"accepted":15,"rejected":2,"refused":0,"loss":0.5,)"
      R"("samples":32,"software":"aflguard-client 1","rss_mb":41.3,"message":""})",
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
