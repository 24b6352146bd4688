#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/telemetry/history_answer.h"
#include "core/telemetry/telemetry_limits.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

constexpr std::int64_t kBegin = 1'769'774'400'000;

}  // namespace

TEST("What is read of an answer writes the same answer") {
  const auto fleet = read_history_answer(golden("history_answer.fleet"));
  TEST_ASSERT_EQUAL_size_t(3, fleet->fleet.size());
  assert_golden("history_answer.fleet", history_answer(fleet->id, 300'000, fleet->fleet)[0]);
  const auto device = read_history_answer(golden("history_answer.device"));
  TEST_ASSERT_TRUE(device->last && device->error.empty() && device->fleet.empty());
  TEST_ASSERT_EQUAL_DOUBLE(2.5, *device->device[0].distance);
  TEST_ASSERT_FALSE(device->device[1].distance.has_value());
  assert_golden("history_answer.device", history_answer(device->id, 10'000, device->device)[0]);
}

TEST("An answer without points is one message, and so is an error") {
  assert_golden("history_answer.minimal",
                history_answer("8", 10'000, std::span<const DeviceHistoryPoint>())[0]);
  assert_golden("history_answer.error", history_error("7", "no update of a device 'pi-7' was ever judged"));
  assert_golden("history_answer.non_ascii", history_error("ü\xff", kForeignText));
  assert_golden("history_answer.error_limits",
                history_error(std::string(kMaxQuestionId, '\x01'), std::string(9999, '\x01')));
  const auto error = read_history_answer(golden("history_answer.error"));
  TEST_ASSERT_TRUE(error->last);
  TEST_ASSERT_EQUAL_STRING("no update of a device 'pi-7' was ever judged", error->error.c_str());
}

TEST("A long answer comes in parts below 4 KB, in order, and the last one says so") {
  constexpr std::uint64_t kMost = UINT64_MAX;
  std::vector<FleetHistoryPoint> points(kMaxHistoryPoints);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {from_milliseconds(kBegin + static_cast<std::int64_t>(i) * 10'000),
                 kMost,
                 kMost,
                 kMost,
                 kMost,
                 1.2345678901234567e300,
                 0.123456789,
                 -1.2345678901234567e-300};
  }
  const auto messages = history_answer(std::string(kMaxQuestionId, '\x01'), 10'000, points);
  std::size_t rows = 0;
  for (std::size_t part = 0; part < messages.size(); ++part) {
    TEST_ASSERT_LESS_THAN_size_t(kMaxTelemetryBytes, messages[part].size());
    TEST_ASSERT_EQUAL_size_t(part, json::parse(messages[part]).at("part").get<std::size_t>());
    const auto answer = read_history_answer(messages[part]);
    TEST_ASSERT_TRUE(answer->last == (part + 1 == messages.size()));
    for (const FleetHistoryPoint& point : answer->fleet) {
      TEST_ASSERT_TRUE(point.time == points[rows++].time && *point.version == kMost);
    }
  }
  TEST_ASSERT_EQUAL_size_t(points.size(), rows);
}

TEST("Fields may stand in another order or be missing, and broken points are left out") {
  const json text = {
      {"schema", "aflguard-history-1"},
      {"id", "7"},
      {"series", "fleet"},
      {"fields", {"test_error", 5, "time_ms", "a field of tomorrow"}},
      {"points", {{0.25, 1, kBegin, 4}, "x", {0.5}, {nullptr, 1, kBegin + 1}, {1, 1, "now", 1}}}};
  const auto answer = read_history_answer(text.dump());
  TEST_ASSERT_FALSE(answer->last);
  TEST_ASSERT_EQUAL_size_t(2, answer->fleet.size());
  TEST_ASSERT_EQUAL_DOUBLE(0.25, *answer->fleet[0].test_error);
  TEST_ASSERT_FALSE(answer->fleet[0].version || answer->fleet[1].test_error);
}

TEST("More points than a question may ask for are not read") {
  json text = {{"schema", "aflguard-history-1"}, {"id", "7"}, {"series", "device"}, {"fields", {"time_ms"}}};
  for (int i = 0; i < 2 * kMaxHistoryPoints; ++i) text["points"].push_back({kBegin + i});
  TEST_ASSERT_EQUAL_size_t(kMaxHistoryPoints, read_history_answer(text.dump())->device.size());
}
