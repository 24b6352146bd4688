#include <map>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf
#include <vector>

#include "core/base/identifier.h"
#include "gateway_server/telemetry/home_assistant.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using nlohmann::json;

namespace {

HomeAssistant made(const std::string& fleet = "green.house") {
  return {FleetTopics::create(fleet).value(), {fleet, "aflguard", "0.1.0"}, "homeassistant"};
}

/// Everything that waits, by topic.
std::map<std::string, std::string> all(HomeAssistant& home) {
  std::map<std::string, std::string> messages;
  HomeAssistant::Time now{std::chrono::hours(1)};
  for (int i = 0; i < 1000; ++i, now += std::chrono::milliseconds(20)) {
    if (auto message = home.next(now)) {
      TEST_ASSERT_TRUE(message->retained);
      messages[message->topic] =
          std::string(reinterpret_cast<const char*>(message->payload.data()), message->payload.size());
    }
  }
  return messages;
}

}  // namespace

TEST("The gateway's sensors say where their values and their availability come from") {
  HomeAssistant home = made();
  home.broker_changed();
  const auto messages = all(home);
  TEST_ASSERT_EQUAL_size_t(8, messages.size());
  const json error =
      json::parse(messages.at("homeassistant/sensor/aflguard_green_dhouse_gateway/error/config"));
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/green.house/gateway/metrics",
                           error.at("state_topic").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/green.house/gateway/status",
                           error.at("availability")[0].at("topic").get<std::string>().c_str());
  ASSERT_CONTAINS(error.at("value_template").get<std::string>(), "value_json.test_error");
  TEST_ASSERT_EQUAL_STRING("aflguard_green_dhouse_gateway",
                           error.at("device").at("identifiers")[0].get<std::string>().c_str());
}

TEST("A device's sensors belong to the gateway's, and are taken back with the same topics") {
  HomeAssistant home = made();
  home.follow({"pi-1"});
  const auto announced = all(home);
  TEST_ASSERT_EQUAL_size_t(6, announced.size());
  const json heat =
      json::parse(announced.at("homeassistant/sensor/aflguard_green_dhouse_device-pi-1/temperature/config"));
  TEST_ASSERT_EQUAL_STRING("aflguard/v1/green.house/up/pi-1/status",
                           heat.at("state_topic").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("temperature", heat.at("device_class").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard_green_dhouse_gateway",
                           heat.at("device").at("via_device").get<std::string>().c_str());
  home.follow({});
  const auto withdrawn = all(home);
  TEST_ASSERT_EQUAL_size_t(announced.size(), withdrawn.size());
  for (const auto& [topic, payload] : withdrawn) {
    TEST_ASSERT_TRUE(payload.empty() && announced.contains(topic));
  }
}

TEST("Every name makes different ids, which Home Assistant takes, below 4 KB") {
  HomeAssistant home = made(std::string(kMaxIdentifierLength, 'f'));
  const std::string longest(kMaxIdentifierLength, '.');
  home.broker_changed();
  home.follow({"a.b", "a_b", "a_db", "a-b", "gateway", "x" + longest.substr(1)});
  const auto messages = all(home);
  TEST_ASSERT_EQUAL_size_t(6 * 6 + 8, messages.size());
  std::map<std::string, int> ids;
  for (const auto& [topic, payload] : messages) {
    TEST_ASSERT_LESS_THAN_size_t(4096, payload.size());
    const std::string id = json::parse(payload).at("unique_id").get<std::string>();
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, ++ids[id], id.c_str());
    TEST_ASSERT_TRUE(
        id.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
        std::string::npos);
  }
}

TEST("A device is announced once, and again when there is a new broker") {
  HomeAssistant home = made();
  home.follow({"pi-1"});
  TEST_ASSERT_EQUAL_size_t(6, all(home).size());
  home.follow({"pi-1", "pi-2"});
  const auto added = all(home);
  TEST_ASSERT_EQUAL_size_t(6, added.size());
  for (const auto& [topic, payload] : added) ASSERT_CONTAINS(topic, "device-pi-2");
  home.follow({"pi-1", "pi-2"});
  TEST_ASSERT_TRUE(all(home).empty());
  home.broker_changed();
  home.follow({"pi-1", "pi-2"});
  TEST_ASSERT_EQUAL_size_t(8 + 2 * 6, all(home).size());
}
