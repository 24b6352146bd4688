#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/telemetry/states.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;

TEST("Every state that is sent is read as itself, and any other name as unknown") {
  for (const DeviceState state : kDeviceStates) {
    TEST_ASSERT_TRUE(state != DeviceState::kUnknown && parse_device_state(to_string(state)) == state);
  }
  for (const GatewayState state : kGatewayStates) {
    TEST_ASSERT_TRUE(state != GatewayState::kUnknown && parse_gateway_state(to_string(state)) == state);
  }
  for (const char* name : {"", "unknown", "Ready", "ready ", "on fire"}) {
    TEST_ASSERT_TRUE(parse_device_state(name) == DeviceState::kUnknown);
    TEST_ASSERT_TRUE(parse_gateway_state(name) == GatewayState::kUnknown);
  }
  TEST_ASSERT_TRUE(parse_gateway_state("training") == GatewayState::kUnknown);
}

TEST("The states are those of the golden file, which the dashboard is tested with as well") {
  nlohmann::ordered_json states;
  for (const DeviceState state : kDeviceStates) states["devices"].push_back(to_string(state));
  for (const GatewayState state : kGatewayStates) states["gateways"].push_back(to_string(state));
  testing::assert_golden("states", states.dump());
}

TEST("Who is lost, stopped or unknown is not connected") {
  std::size_t connected = 0;
  for (const DeviceState state : kDeviceStates) connected += is_connected(state);
  TEST_ASSERT_EQUAL_size_t(4, connected);
  TEST_ASSERT_FALSE(is_connected(DeviceState::kUnknown) || is_connected(DeviceState::kLost) ||
                    is_connected(DeviceState::kDisconnected));
}
