#include <fstream>

#include "fleet/view/trouble.h"
#include "tests/fleet/view/messages.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;
using namespace aflguard::testing;

namespace {

std::vector<std::string> order(const FleetState& picture) {
  std::vector<std::string> names;
  for (const DeviceRow& row : by_trouble(picture, kNow)) names.push_back(*row.name);
  return names;
}

/// What monitor and dashboard must agree on.
Json golden_troubles() {
  return Json::parse(std::ifstream(source_folder() / "tests/golden/telemetry/troubles.json"));
}

}  // namespace

TEST("A device that lies comes before one that needs someone, one that is lost, and the content") {
  FleetState picture = small_fleet();
  take(picture, "up/pi-5/status", status("pi-5", "alert"));
  take(picture, "gateway/devices/pi-6", summary("pi-6", 70, 30, 0.3, 0.95));
  const std::vector<std::string> expected = {"pi-9", "pi-5", "pi-2", "pi-6", "pi-1"};
  TEST_ASSERT_TRUE(order(picture) == expected);
  const auto rows = by_trouble(picture, kNow);
  TEST_ASSERT_TRUE(rows[0].trouble.level == TroubleLevel::kAlarm && rows[0].trouble.suspicious);
  TEST_ASSERT_TRUE(rows[1].trouble.level == TroubleLevel::kAlarm && !rows[1].trouble.suspicious);
  TEST_ASSERT_TRUE(rows[2].trouble.level == TroubleLevel::kWarning);
  TEST_ASSERT_TRUE(rows[3].trouble.level == TroubleLevel::kWarning);
  TEST_ASSERT_TRUE(rows[4].trouble.level == TroubleLevel::kNone && rows[4].trouble.why.empty());
}

TEST("A single rejected update makes nobody suspicious") {
  FleetState picture = empty_picture();
  take(picture, "gateway/devices/pi-1", summary("pi-1", 0, 3, 1.0, 3.0));
  TEST_ASSERT_FALSE(by_trouble(picture, kNow)[0].trouble.suspicious);
  take(picture, "gateway/devices/pi-1", summary("pi-1", 0, 4, 1.0, 3.0));
  TEST_ASSERT_TRUE(by_trouble(picture, kNow)[0].trouble.suspicious);
}

TEST("A device that moves away from the reference update is noticed before it is rejected") {
  FleetState picture = empty_picture();
  Json drifting = summary("pi-1", 50, 0, 0.0, 0.7);
  drifting["distance_trend"] = 0.03;
  take(picture, "gateway/devices/pi-1", drifting);
  take(picture, "gateway/devices/pi-2", summary("pi-2", 50, 0, 0.0, 0.95));
  take(picture, "gateway/devices/pi-3", summary("pi-3", 50, 0, 0.0, 0.7));
  const auto rows = by_trouble(picture, kNow);
  TEST_ASSERT_EQUAL_STRING("moves away from the reference update", rows[0].trouble.why.c_str());
  TEST_ASSERT_EQUAL_STRING("close to the bound", rows[1].trouble.why.c_str());
  TEST_ASSERT_TRUE(rows[2].trouble.level == TroubleLevel::kNone);
}

TEST("Heat, ending certificates and refused messages are noticed") {
  FleetState picture = empty_picture();
  Json hot = status("a", "ready");
  hot["temperature_c"] = 84.0;
  take(picture, "up/a/status", hot);
  Json ending = status("b", "ready");
  ending["certificate_until"] = "2026-02-03T12:00:00Z";
  take(picture, "up/b/status", ending);
  Json ended = status("c", "ready");
  ended["certificate_until"] = "2026-01-31T11:00:00Z";
  take(picture, "up/c/status", ended);
  Json refused = summary("d", 9, 0, 0, 0.1);
  refused["refused"] = 1200;
  take(picture, "gateway/devices/d", refused);
  const auto rows = by_trouble(picture, kNow);
  TEST_ASSERT_EQUAL_STRING("its certificate has ended", rows[0].trouble.why.c_str());
  TEST_ASSERT_EQUAL_STRING("its certificate ends in 3 d", rows[1].trouble.why.c_str());
  TEST_ASSERT_EQUAL_STRING("84 degrees C", rows[2].trouble.why.c_str());
  TEST_ASSERT_EQUAL_STRING("1,200 of its messages were refused", rows[3].trouble.why.c_str());
}

TEST("Equal devices keep the order of their names, and small changes move nobody") {
  FleetState picture = empty_picture();
  for (const char* name : {"c", "a", "b"}) {
    take(picture, std::string("gateway/devices/") + name,
         summary(name, 90, 6, *name == 'c' ? 0.06 : 0.05, 0.3));
  }
  const std::vector<std::string> expected = {"a", "b", "c"};
  TEST_ASSERT_TRUE(order(picture) == expected);
}

TEST("A gateway that is lost, needs someone or falls silent is trouble") {
  FleetState picture = empty_picture();
  TEST_ASSERT_TRUE(gateway_trouble(picture.gateway(), kNow).level == TroubleLevel::kWarning);
  picture = small_fleet();
  TEST_ASSERT_TRUE(gateway_trouble(picture.gateway(), kNow).level == TroubleLevel::kNone);
  ASSERT_CONTAINS(gateway_trouble(picture.gateway(), kNow + std::chrono::seconds(30)).why, "silent for 30 s");
  take(picture, "gateway/metrics", metrics("2026-01-31T09:00:00Z", 1, 0.1));  // retained, and old
  ASSERT_CONTAINS(gateway_trouble(picture.gateway(), kNow).why, "silent for 3 h");
  take(picture, "gateway/status", gateway_status("alert", "the disk is full"));
  TEST_ASSERT_EQUAL_STRING("the disk is full", gateway_trouble(picture.gateway(), kNow).why.c_str());
  take(picture, "gateway/status", gateway_status("lost"));
  TEST_ASSERT_TRUE(gateway_trouble(picture.gateway(), kNow).level == TroubleLevel::kAlarm);
}

TEST(
    "Devices of the shared table have the trouble, the state and the rank that the dashboard gives them, "
    "too") {
  const Json table = golden_troubles();
  const WallTime now = parse_rfc3339(table.at("now").get<std::string>()).value();
  FleetState picture = empty_picture();
  for (const Json& device : table.at("devices")) {
    for (const Json& message : device.at("messages")) {
      take(picture, message.at("topic").get<std::string>(), message.at("payload"), now);
    }
  }
  TEST_ASSERT_EQUAL_UINT64(0, picture.counters().ignored);
  const auto rows = by_trouble(picture, now);
  TEST_ASSERT_EQUAL_size_t(table.at("devices").size(), rows.size());
  for (const Json& device : table.at("devices")) {
    const Json& expected = device.at("expected");
    const DeviceRow& row = rows.at(expected.at("rank").get<std::size_t>());
    const Json found = {{"name", *row.name},
                        {"rank", expected.at("rank")},
                        {"state", to_string(row.device->state)},
                        {"level", to_string(row.trouble.level)},
                        {"suspicious", row.trouble.suspicious},
                        {"why", row.trouble.why},
                        {"score", static_cast<int>(row.trouble.score)}};
    Json wanted = expected;
    wanted["name"] = device.at("name");
    TEST_ASSERT_EQUAL_STRING(wanted.dump().c_str(), found.dump().c_str());
  }
}

TEST("Gateways of the shared table have the trouble that the dashboard gives them, too") {
  const Json table = golden_troubles();
  const WallTime now = parse_rfc3339(table.at("now").get<std::string>()).value();
  for (const Json& gateway : table.at("gateways")) {
    FleetState picture = empty_picture();
    for (const Json& message : gateway.at("messages")) {
      take(picture, message.at("topic").get<std::string>(), message.at("payload"),
           parse_rfc3339(gateway.at("received").get<std::string>()).value());
    }
    const Trouble trouble = gateway_trouble(picture.gateway(), now);
    const Json found = {{"level", to_string(trouble.level)}, {"why", trouble.why}};
    TEST_ASSERT_EQUAL_STRING_MESSAGE(gateway.at("expected").dump().c_str(), found.dump().c_str(),
                                     gateway.at("what").get<std::string>().c_str());
  }
}
