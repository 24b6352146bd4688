#include "core/base/identifier.h"
#include "core/telemetry/gateway_status.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

GatewayStatus status(GatewayState state, const std::string& message) {
  return {state, "greenhouse", "aflguard", "0.1.0", message};
}

}  // namespace

TEST("A gateway's status is written as it always was") {
  assert_golden("gateway_status.full", to_json(status(GatewayState::kReady, "")));
  assert_golden("gateway_status.minimal", to_json(GatewayStatus{.state = GatewayState::kLost}));
  assert_golden("gateway_status.non_ascii", to_json(status(GatewayState::kAlert, kForeignText + " \xff")));
  const std::string name(kMaxIdentifierLength, 'x');
  assert_golden("gateway_status.limits", to_json(GatewayStatus{GatewayState::kDisconnected, name, name, name,
                                                               std::string(9999, '\x01')}));
}

TEST("What is read of it writes the same status") {
  for (const char* name : {"gateway_status.full", "gateway_status.minimal"}) {
    const auto read = read_gateway_status(golden(name));
    TEST_ASSERT_TRUE_MESSAGE(read.has_value(), name);
    TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), to_json(*read).c_str());
  }
}

TEST("What is not a gateway's status is none") {
  for (const char* text :
       {"", "{", "[]", R"({"schema":"aflguard-gateway-status-1"})",
        R"({"schema":"aflguard-gateway-status-1","state":"training"})",
        R"({"schema":"aflguard-gateway-status-2","state":"ready"})", R"({"state":"ready"})"}) {
    TEST_ASSERT_FALSE_MESSAGE(read_gateway_status(text).has_value(), text);
  }
}
