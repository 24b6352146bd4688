#include <algorithm>

#include "core/telemetry/telemetry_limits.h"
#include "fleet/view/state_document.h"
#include "fleet/view/state_lines.h"
#include "tests/fleet/view/messages.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::view;
using namespace aflguard::testing;

TEST("A picture holds what the topics say") {
  const FleetState picture = small_fleet();
  TEST_ASSERT_TRUE(picture.gateway().status.state == GatewayState::kReady);
  TEST_ASSERT_EQUAL_UINT64(1234, *picture.gateway().metrics.version);
  const auto& [reason, count] = picture.gateway().metrics.rejected_by.back();
  TEST_ASSERT_TRUE(reason == "too-far" && count == 338);
  TEST_ASSERT_EQUAL_size_t(4, picture.gateway().metrics.delay_histogram.counts.size());
  TEST_ASSERT_EQUAL_size_t(3, picture.devices().size());
  const DevicePicture& device = picture.devices().at("pi-1");
  TEST_ASSERT_TRUE(device.state == DeviceState::kTraining);
  TEST_ASSERT_EQUAL_DOUBLE(51.5, *device.status->board.temperature_c);
  TEST_ASSERT_EQUAL_size_t(16, device.summary->recent.size());
  TEST_ASSERT_EQUAL_DOUBLE(0.65, *device.summary->recent.front().ratio());
  TEST_ASSERT_EQUAL_size_t(1, picture.events().size());
  TEST_ASSERT_EQUAL_DOUBLE(0.0546, *picture.test_error().latest());
  TEST_ASSERT_EQUAL_UINT64(0, picture.counters().ignored);
}

TEST("A last will makes a device lost and keeps what it said before") {
  const FleetState picture = small_fleet();
  const DevicePicture& device = picture.devices().at("pi-2");
  TEST_ASSERT_TRUE(device.state == DeviceState::kLost);
  TEST_ASSERT_EQUAL_UINT64(812, *device.status->version);
  TEST_ASSERT_EQUAL_STRING("gone without a word", device.status->message.c_str());
}

TEST("The device's own state counts, and the gateway's word where it has none") {
  FleetState picture = empty_picture();
  take(picture, "gateway/devices/pi-1", summary("pi-1", 1, 0, 0, 0.5));
  TEST_ASSERT_TRUE(picture.devices().at("pi-1").state == DeviceState::kTraining);
  take(picture, "up/pi-1/status", status("pi-1", "alert"));
  take(picture, "gateway/devices/pi-1", summary("pi-1", 2, 0, 0, 0.5));
  TEST_ASSERT_TRUE(picture.devices().at("pi-1").state == DeviceState::kAlert);
}

TEST("An empty message means that the thing is gone") {
  FleetState picture = small_fleet();
  picture.take("aflguard/v1/f/up/pi-1/status", "", kNow);
  TEST_ASSERT_TRUE(picture.devices().contains("pi-1"));
  picture.take("aflguard/v1/f/gateway/devices/pi-1", "", kNow);
  TEST_ASSERT_FALSE(picture.devices().contains("pi-1"));
  take(picture, "gateway/devices/pi-1", summary("pi-1", 90, 6, 0.05, 0.65));
  take(picture, "up/pi-1/status", status("pi-1", "alert"));
  picture.take("aflguard/v1/f/up/pi-1/status", "", kNow);
  TEST_ASSERT_TRUE(picture.devices().at("pi-1").state == DeviceState::kTraining);  // by the gateway's summary
  picture.take("aflguard/v1/f/gateway/devices/pi-1", "", kNow);
  picture.take("aflguard/v1/f/gateway/status", "", kNow);
  picture.take("aflguard/v1/f/gateway/metrics", "", kNow);
  TEST_ASSERT_TRUE(picture.gateway().status.state == GatewayState::kUnknown);
  TEST_ASSERT_FALSE(picture.gateway().heard_at.has_value() || picture.gateway().metrics.version.has_value());
  picture.take("aflguard/v1/f/up/nobody/status", "", kNow);
  TEST_ASSERT_EQUAL_size_t(2, picture.devices().size());
  TEST_ASSERT_EQUAL_UINT64(0, picture.counters().ignored);
}

TEST("What is broken or foreign changes nothing and is counted") {
  FleetState picture = small_fleet();
  const std::string before = picture_document(picture, kNow);
  const std::string deep(60'000, '[');
  const std::string good = status("pi-1", "alert").dump();
  const std::pair<std::string, std::string> broken[] = {
      {"aflguard/v1/f/up/pi-1/status", "{"},
      {"aflguard/v1/f/up/pi-1/status", "[]"},
      {"aflguard/v1/f/up/pi-1/status", "null"},
      {"aflguard/v1/f/up/pi-1/status", "{\"schema\":1}"},
      {"aflguard/v1/f/up/pi-1/status", "{\"schema\":\"aflguard-device-status-2\",\"state\":\"lost\"}"},
      {"aflguard/v1/f/up/pi-1/status", deep},
      {"aflguard/v1/f/up/pi-1/status", std::string("\xff\xfe\0", 3)},
      {"aflguard/v1/f/up/pi-1/status", good + std::string(70'000, ' ')},
      {"aflguard/v1/f/up/a b/status", good},
      {"aflguard/v1/other/up/pi-1/status", good},
      {"aflguard/v1/f/gateway/devices/pi-1", good},
      {"aflguard/v1/f/gateway/metrics", good},
      {"aflguard/v1/f/events", "{}"},
      {"aflguard/v1/f/tell/someone/history", "{\"schema\":\"aflguard-history-1\",\"id\":\"1\"}"},
      {"aflguard/v1/f/model", "x"},
      {"nonsense", good},
  };
  for (const auto& [topic, payload] : broken) picture.take(topic, payload, kNow);
  TEST_ASSERT_EQUAL_UINT64(std::size(broken), picture.counters().ignored);
  Json after = Json::parse(picture_document(picture, kNow));
  Json old = Json::parse(before);
  after.erase("messages");
  old.erase("messages");
  TEST_ASSERT_EQUAL_STRING(old.dump().c_str(), after.dump().c_str());
}

TEST("Figures of a wrong kind are not known, and texts cannot steer a terminal") {
  FleetState picture = empty_picture();
  Json hostile = status("pi-1", "ready");
  hostile["version"] = "many";
  hostile["accepted"] = -5;
  hostile["loss"] = Json::array();
  hostile["certificate_until"] = "tomorrow";
  hostile["message"] = "\x1b[2J\x1b]0;owned\x07 caf\u00e9\n" + std::string(5000, 'x');
  take(picture, "up/pi-1/status", hostile);
  const DeviceStatus& told = *picture.devices().at("pi-1").status;
  TEST_ASSERT_FALSE(told.version.has_value() || told.accepted.has_value() || told.loss.has_value() ||
                    told.certificate_until.has_value());
  TEST_ASSERT_EQUAL_size_t(160, told.message.size());
  for (const char letter : told.message) TEST_ASSERT_TRUE(letter >= ' ' && letter <= '~');

  Json summary_message = summary("pi-1", 1, 1, 0.5, 1.0);
  summary_message["recent"] = Json::array({1, "x", Json::array(), {1, 2}, {-1, 2, 3, 1}, {1e300, 2, 3, 1}});
  summary_message["recent"].push_back({1000, nullptr, 3, 0});
  for (int i = 0; i < 100; ++i) summary_message["recent"].push_back({1000 + i, 1, 0, 1});
  summary_message["last"] = "good";
  take(picture, "gateway/devices/pi-1", summary_message);
  const DeviceSummary& known = *picture.devices().at("pi-1").summary;
  TEST_ASSERT_EQUAL_size_t(kMaxRecentVerdicts, known.recent.size());
  TEST_ASSERT_FALSE(known.recent.front().ratio().has_value());
  TEST_ASSERT_FALSE(known.recent.back().ratio().has_value());  // a bound of 0 divides nothing
  TEST_ASSERT_FALSE(known.last.has_value());
  TEST_ASSERT_TRUE(Json::parse(picture_document(picture, kNow)).is_object());
}

TEST("Memory is bounded by devices, events and points, and what is left out is counted") {
  FleetState picture = empty_picture({.devices = 3, .events = 2, .series = 5});
  for (int i = 0; i < 10; ++i) {
    const std::string name = "pi-" + std::to_string(i);
    take(picture, "up/" + name + "/status", status(name, "ready"));
    take(picture, "events", event("joined", name, std::to_string(i)));
    take(picture, "gateway/metrics", metrics("2026-01-31T12:00:0" + std::to_string(i) + "Z", i, nullptr));
  }
  TEST_ASSERT_EQUAL_size_t(3, picture.devices().size());
  TEST_ASSERT_EQUAL_UINT64(7, picture.counters().left_out);
  TEST_ASSERT_EQUAL_size_t(2, picture.events().size());
  TEST_ASSERT_EQUAL_STRING("9", picture.events().back().text.c_str());
  TEST_ASSERT_EQUAL_size_t(5, picture.updates_per_second().size());
  TEST_ASSERT_EQUAL_size_t(0, picture.test_error().size());
  take(picture, "up/pi-2/status", status("pi-2", "lost"));
  TEST_ASSERT_TRUE(picture.devices().at("pi-2").state == DeviceState::kLost);
}

TEST("History fills what was before, in several parts, and only the answer to the latest question does") {
  FleetState picture = empty_picture();
  take(picture, "gateway/metrics", metrics("2026-01-31T12:00:00Z", 10, 0.05));
  const auto at = [](int minutes) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               (kNow + std::chrono::minutes(minutes)).time_since_epoch())
        .count();
  };
  const Json old = Json::parse(picture.fleet_question(kNow - std::chrono::hours(1), kNow, 300));
  const Json question = Json::parse(picture.fleet_question(kNow - std::chrono::hours(1), kNow, 9999));
  TEST_ASSERT_EQUAL_STRING("aflguard-history-question-1", question.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("fleet", question.at("series").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_INT(500, question.at("points").get<int>());
  TEST_ASSERT_EQUAL_INT64(at(-60), question.at("from_ms").get<std::int64_t>());
  Json answer = {{"schema", "aflguard-history-1"},
                 {"id", old.at("id")},
                 {"series", "fleet"},
                 {"part", 0},
                 {"last", true},
                 {"step_ms", 60000},
                 {"fields", {"time_ms", "version", "updates_per_second", "test_error"}},
                 {"points", Json::array({{at(-9), 1, 99.0, 0.9}})}};
  take(picture, "tell/operator/history", answer);
  TEST_ASSERT_EQUAL_size_t(1, picture.test_error().size());
  answer["id"] = question.at("id");
  answer["last"] = false;
  answer["points"] = Json::array({{at(-4), 1, 4.0, 0.4}, {at(-3), 1, 3.0, nullptr}, "x", {"y"}});
  take(picture, "tell/operator/history", answer);
  answer["last"] = true;
  answer["points"] = Json::array({{at(-2), 1, 2.0, 0.2}, {at(1), 1, 7.0, 0.7}});
  take(picture, "tell/operator/history", answer);
  TEST_ASSERT_EQUAL_UINT64(1, picture.answers());
  TEST_ASSERT_EQUAL_size_t(
      4, picture.updates_per_second().size());  // what is later than the present is left out
  TEST_ASSERT_EQUAL_size_t(3, picture.test_error().size());
  const auto means =
      picture.updates_per_second().means(kNow - std::chrono::minutes(4), kNow + std::chrono::minutes(1), 5);
  TEST_ASSERT_EQUAL_DOUBLE(4, *means[0]);
  TEST_ASSERT_EQUAL_DOUBLE(3, *means[1]);
  TEST_ASSERT_EQUAL_DOUBLE(2, *means[2]);
  TEST_ASSERT_FALSE(means[3].has_value());
  TEST_ASSERT_EQUAL_DOUBLE(10, *means[4]);
}

TEST("A device's history is that of the device asked for last") {
  FleetState picture = small_fleet();
  const Json question = Json::parse(picture.device_question("pi-9", kNow - std::chrono::hours(1), kNow, 100));
  TEST_ASSERT_EQUAL_STRING("pi-9", question.at("device").get<std::string>().c_str());
  const Json answer = {{"schema", "aflguard-history-1"},
                       {"id", question.at("id")},
                       {"series", "device"},
                       {"part", 0},
                       {"last", true},
                       {"fields", {"time_ms", "accepted", "rejected", "distance", "bound", "delay"}},
                       {"points", {{1769860800000, 0, 5, 30.0, 10.0, 2.0}}}};
  take(picture, "tell/operator/history", answer);
  TEST_ASSERT_EQUAL_STRING("pi-9", picture.device_history()->device.c_str());
  TEST_ASSERT_EQUAL_DOUBLE(3, *picture.device_history()->points.front().ratio());
  TEST_ASSERT_FALSE(picture.device_history()->points.front().accepted);
  (void)picture.device_question("pi-1", kNow, kNow, 100);
  TEST_ASSERT_FALSE(picture.device_history().has_value());
}

TEST("The document for scripts has the worst device first") {
  const Json document = Json::parse(picture_document(small_fleet(), kNow));
  TEST_ASSERT_EQUAL_STRING("aflguard-status-1", document.at("schema").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("pi-9", document.at("devices")[0].at("name").get<std::string>().c_str());
  TEST_ASSERT_TRUE(document.at("devices")[0].at("trouble").at("suspicious").get<bool>());
  TEST_ASSERT_EQUAL_INT(1, document.at("tally").at("suspicious").get<int>());
  TEST_ASSERT_EQUAL_INT(1, document.at("tally").at("lost").get<int>());
  TEST_ASSERT_EQUAL_INT(1234, document.at("gateway").at("metrics").at("version").get<int>());
  TEST_ASSERT_TRUE(document.at("devices")[1].at("distance_ratio").is_null());
}

TEST("Lines for people name the worst device") {
  const FleetState picture = small_fleet();
  const std::string line = summary_line(picture, kNow);
  ASSERT_CONTAINS(
      line, "2026-01-31T12:00:00Z gateway ready, v1,234, 11.0 updates/s, +1,159 -341, test error 0.0546");
  ASSERT_CONTAINS(line, "devices 2/3 connected, 1 lost, 1 suspicious; worst: pi-9, 97 % rejected");
  TEST_ASSERT_EQUAL_size_t(5, status_lines(picture, kNow).size());
  ASSERT_CONTAINS(event_line(picture.events().front()), "event rejected pi-9: too-far: 310.2, bound 18.9");
  ASSERT_CONTAINS(summary_line(empty_picture(), kNow), "gateway unknown (the gateway was not heard yet)");
}

TEST("The error on a board's own samples is in the table and the document where a board measures it") {
  FleetState picture = small_fleet();
  TEST_ASSERT_TRUE(status_lines(picture, kNow)[1].find("own error") == std::string::npos);
  Json measuring = status("pi-1", "training");
  measuring["local_error"] = {{"error", 0.0425}, {"version", 811}, {"samples", 120}};
  take(picture, "up/pi-1/status", measuring);
  const auto lines = status_lines(picture, kNow);
  ASSERT_CONTAINS(lines[1], "distance  own error  trouble");
  const auto shown = [](const std::string& line) { return line.find("0.0425") != std::string::npos; };
  TEST_ASSERT_EQUAL_INT(1, static_cast<int>(std::count_if(lines.begin(), lines.end(), shown)));
  const Json document = Json::parse(picture_document(picture, kNow));
  for (const Json& device : document.at("devices")) {
    const Json wanted = device.at("name") == "pi-1" ? measuring["local_error"] : Json(nullptr);
    TEST_ASSERT_TRUE(device.at("local_error") == wanted);
  }
}
