#include <cmath>

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "core/telemetry/device_status.h"
#include "core/telemetry/telemetry_limits.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

DeviceStatus full() {
  return {.state = DeviceState::kTraining,
          .device = "pi-1",
          .time = parse_rfc3339("2026-01-31T12:00:00Z").value(),
          .version = 812,
          .sequence = 97,
          .verdict = LastVerdict{.accepted = true, .reason = "accepted", .delay = 3},
          .accepted = 90,
          .rejected = 6,
          .refused = 1,
          .loss = 0.31,
          .samples = 32,
          .software = "0.1.0",
          .rss_mb = 48.23,
          .board = {.temperature_c = 51.54, .memory_free_mb = 310},
          .certificate_until = parse_rfc3339("2028-01-31T12:00:00Z").value(),
          .message = "waiting for samples"};
}

std::optional<ReportedState> reported(const std::string& text) {
  return read_reported_state(text);
}

}  // namespace

TEST("A status is written as it always was") {
  assert_golden("device_status.full", to_json(full()));
  assert_golden("device_status.last_will", to_json(last_will("pi-1", "0.1.0")));
  DeviceStatus asking = full();
  asking.wants_offer = true;
  assert_golden("device_status.asking", to_json(asking));
  DeviceStatus upgrading = full();
  upgrading.model = "cnn";
  upgrading.model_number = 1;
  upgrading.model_hash = "0123456789abcdef";
  upgrading.upgrade = "fetching model cnn-tanh, 3 of 12 pieces";
  assert_golden("device_status.upgrading", to_json(upgrading));
  DeviceStatus minimal{.time = WallTime{}};
  minimal.sequence = minimal.accepted = minimal.rejected = minimal.refused = minimal.samples = 0;
  minimal.rss_mb = 0;
  assert_golden("device_status.minimal", to_json(minimal));
  DeviceStatus foreign = full();
  foreign.state = DeviceState::kAlert;
  foreign.message = kForeignText + " \xff\x01\"";
  assert_golden("device_status.non_ascii", to_json(foreign));
}

TEST("The longest status there can be stays below 4 KB") {
  DeviceStatus status = full();
  constexpr std::uint64_t kMost = UINT64_MAX;
  status.state = DeviceState::kDisconnected;
  status.device = std::string(kMaxIdentifierLength, 'x');
  status.model = status.model_hash = status.upgrade = std::string(9999, '\x01');
  status.model_number = kMost;
  status.version = status.sequence = status.accepted = status.rejected = status.refused = kMost;
  status.samples = kMost;
  status.verdict = LastVerdict{.accepted = false, .reason = "residual-too-long", .delay = kMost};
  status.loss = -1.2345678901234567e-300;
  status.rss_mb = 1e15 + 0.1;
  status.board = {-59.123, kMost};
  status.message = std::string(100'000, '\x01');
  assert_golden("device_status.limits", to_json(status));
}

TEST("What is read of a status writes the same status") {
  for (const char* name : {"device_status.full", "device_status.minimal", "device_status.last_will",
                           "device_status.upgrading"}) {
    const auto status = read_device_status(golden(name));
    TEST_ASSERT_TRUE_MESSAGE(status.has_value(), name);
    TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), to_json(*status).c_str());
  }
}

TEST("What is not known or not finite is left out, and broken text stays JSON") {
  DeviceStatus status;
  status.loss = std::nan("");
  status.message = "bad \xff byte\n";
  const std::string json = to_json(status);
  for (const char* field : {"loss", "version", "time", "accepted", "rss_mb"}) {
    TEST_ASSERT_TRUE_MESSAGE(json.find(field) == std::string::npos, field);
  }
  TEST_ASSERT_TRUE(json.find('\n') == std::string::npos);
  ASSERT_CONTAINS(json, R"(byte\n")");
}

TEST("What is read cannot steer a terminal, and is short") {
  const auto foreign = read_device_status(golden("device_status.non_ascii"));
  for (const char letter : foreign->message) TEST_ASSERT_TRUE(letter >= ' ' && letter <= '~');
  const auto longest = read_device_status(golden("device_status.limits"));
  TEST_ASSERT_EQUAL_size_t(kMaxReadText, longest->message.size());
  TEST_ASSERT_EQUAL_size_t(kMaxIdentifierLength, longest->device.size());
  TEST_ASSERT_EQUAL_UINT64(UINT64_MAX, *longest->board.memory_free_mb);
}

TEST("A gateway reads state and message of a status, as the device wrote them") {
  const auto status = reported(golden("device_status.non_ascii"));
  TEST_ASSERT_TRUE(status->state == DeviceState::kAlert);
  ASSERT_CONTAINS(status->message, kForeignText);
  TEST_ASSERT_TRUE(reported(golden("device_status.last_will"))->state == DeviceState::kLost);
  TEST_ASSERT_TRUE(reported(golden("device_status.limits"))->state == DeviceState::kDisconnected);
}

TEST("What is not a status is none for either reader") {
  const std::string head = R"({"schema":"aflguard-device-status-1",)";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string(4000, '['),
        std::string("\xff\xfe\0x", 4), std::string(R"({"state":"ready"})"),
        std::string(R"({"schema":"aflguard-device-status-2","state":"ready"})"),
        std::string(R"({"schema":["aflguard-device-status-1"],"state":"ready"})"),
        golden("gateway_status.full"), golden("event.full"), head + R"("state":7})",
        head + R"("state":"on fire"})", head + R"("state":"unknown"})", head + R"("state":["ready"]})",
        head + R"("other":{"state":"ready"}})", head + R"("state":"ready","state":null})",
        head + R"("state":"ready"} x)", "[" + head + R"("state":"ready"}])"}) {
    TEST_ASSERT_FALSE_MESSAGE(reported(text).has_value(), text.c_str());
    TEST_ASSERT_FALSE_MESSAGE(read_device_status(text).has_value(), text.c_str());
  }
}

TEST("A gateway takes no status of 4096 bytes") {
  const std::string head = R"({"schema":"aflguard-device-status-1","state":"ready","message":")";
  const auto of_size = [&](std::size_t size) {
    return head + std::string(size - head.size() - 2, 'x') + "\"}";
  };
  TEST_ASSERT_TRUE(reported(of_size(kMaxTelemetryBytes - 1)).has_value());
  TEST_ASSERT_FALSE(reported(of_size(kMaxTelemetryBytes)).has_value());
}

TEST("A device's question for an offer is read, and nothing but true is one") {
  TEST_ASSERT_TRUE(reported(golden("device_status.asking"))->wants_offer);
  TEST_ASSERT_TRUE(read_device_status(golden("device_status.asking"))->wants_offer);
  TEST_ASSERT_FALSE(reported(golden("device_status.full"))->wants_offer);
  for (const std::string value : {"false", "1", R"("true")", "null", "[true]", R"({"wants_offer":true})"}) {
    const std::string text =
        R"({"schema":"aflguard-device-status-1","state":"ready","wants_offer":)" + value + R"(,"flag":true})";
    TEST_ASSERT_FALSE_MESSAGE(reported(text)->wants_offer, value.c_str());
    TEST_ASSERT_FALSE_MESSAGE(read_device_status(text)->wants_offer, value.c_str());
  }
}
