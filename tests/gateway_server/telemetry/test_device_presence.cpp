#include "gateway_server/telemetry/device_presence.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;

namespace {

/// Takes a status with that state; the kind of the event that it makes, "-" for none.
std::string told(DevicePresence& presence, const std::string& device, const std::string& state,
                 bool retained = false) {
  const std::string text = R"({"schema":"aflguard-device-status-1","state":")" + state +
                           R"(","device":"liar","message":"the disk is full"})";
  const auto change = presence.take(device, std::as_bytes(std::span(text)), retained).change;
  return change && !change->kind.empty() ? std::string(change->kind) : "-";
}

}  // namespace

TEST("A device that comes, trains, vanishes, returns, needs someone and leaves makes one event each") {
  DevicePresence presence;
  TEST_ASSERT_EQUAL_STRING("joined", told(presence, "pi-1", "init").c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "pi-1", "ready").c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "pi-1", "training").c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "pi-1", "training").c_str());
  TEST_ASSERT_EQUAL_STRING("lost", told(presence, "pi-1", "lost").c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "pi-1", "lost").c_str());
  TEST_ASSERT_EQUAL_STRING("returned", told(presence, "pi-1", "ready").c_str());
  TEST_ASSERT_EQUAL_STRING("alert", told(presence, "pi-1", "alert").c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "pi-1", "training").c_str());
  TEST_ASSERT_EQUAL_STRING("left", told(presence, "pi-1", "disconnected").c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "pi-1", "lost").c_str());
  TEST_ASSERT_TRUE(presence.state("pi-1") == DeviceState::kLost);
}

TEST("Connected devices are counted, whatever they do next") {
  DevicePresence presence;
  (void)told(presence, "a", "ready");
  (void)told(presence, "b", "alert");
  (void)told(presence, "c", "lost");
  (void)told(presence, "d", "disconnected");
  TEST_ASSERT_EQUAL_size_t(2, presence.connected());
  (void)told(presence, "a", "lost");
  (void)told(presence, "c", "init");
  TEST_ASSERT_EQUAL_size_t(2, presence.connected());
  presence.forget_unless([](std::string_view device) { return device != "b"; });
  TEST_ASSERT_EQUAL_size_t(1, presence.connected());
  TEST_ASSERT_TRUE(presence.state("b") == DeviceState::kUnknown);
}

TEST("What the broker has kept tells how things are, and is news only where it differs") {
  DevicePresence presence;
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "a", "training", true).c_str());
  TEST_ASSERT_EQUAL_STRING("-", told(presence, "b", "lost", true).c_str());
  TEST_ASSERT_EQUAL_size_t(1, presence.connected());
  // The link to the broker broke, and a device was lost meanwhile.
  TEST_ASSERT_EQUAL_STRING("lost", told(presence, "a", "lost", true).c_str());
}

TEST("An alert carries the device's own words") {
  DevicePresence presence;
  const std::string text =
      R"({"schema":"aflguard-device-status-1","state":"alert","message":"the disk is full"})";
  const auto change = presence.take("a", std::as_bytes(std::span(text)), false).change;
  TEST_ASSERT_EQUAL_STRING("the disk is full", change->message.c_str());
}

TEST("What is not a status changes nothing") {
  DevicePresence presence;
  for (const std::string& text :
       {std::string(), std::string("{"), std::string(R"({"state":"ready"})"),
        std::string(R"({"schema":"aflguard-device-status-1","state":"on fire"})")}) {
    TEST_ASSERT_FALSE(presence.take("a", std::as_bytes(std::span(text)), false).change.has_value());
  }
  TEST_ASSERT_EQUAL_size_t(0, presence.connected());
}

TEST("Only a connected device asks for an offer") {
  DevicePresence presence;
  const auto asks = [&](const std::string& state) {
    const std::string text =
        R"({"schema":"aflguard-device-status-1","state":")" + state + R"(","wants_offer":true})";
    return presence.take("a", std::as_bytes(std::span(text)), true).wants_offer;
  };
  TEST_ASSERT_TRUE(asks("ready"));
  TEST_ASSERT_TRUE(asks("ready"));  // nothing has changed, and it still asks
  TEST_ASSERT_TRUE(asks("alert"));
  TEST_ASSERT_FALSE(asks("lost"));
  TEST_ASSERT_FALSE(asks("disconnected"));
}
