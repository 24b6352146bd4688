#include <cmath>
#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/base/identifier.h"
#include "core/base/rfc3339.h"
#include "gateway_server/telemetry/device_summaries.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
constexpr DeviceSummaries::Time kStart{std::chrono::hours(1)};
constexpr std::chrono::system_clock::time_point kWall{std::chrono::hours(500'000)};

JudgedUpdate judged(const std::string& device, bool accepted, double distance = 1, double bound = 2) {
  JudgedUpdate update;
  update.device = device;
  update.accepted = 90;
  update.rejected = 6;
  update.verdict.accepted = accepted;
  update.verdict.reason = accepted ? Reason::kAccepted : Reason::kTooFar;
  update.verdict.distance = distance;
  update.verdict.bound = bound;
  update.verdict.delay = 3;
  update.version = 812;
  update.time_ms = 1'769'860'800'000;
  return update;
}

json next_json(DeviceSummaries& summaries, DeviceSummaries::Time now) {
  const auto due = summaries.next(now, kWall);
  TEST_ASSERT_TRUE(due.has_value());
  return json::parse(due->json);
}

}  // namespace

TEST("A summary holds counts, the last verdict and the recent ones") {
  DeviceSummaries summaries(1000);
  summaries.state_changed("pi-1", DeviceState::kTraining, kStart);
  summaries.judged(judged("pi-1", true, 12.3, 18.9), kStart);
  const json told = next_json(summaries, kStart);
  TEST_ASSERT_EQUAL_STRING("pi-1", told.at("device").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_STRING("training", told.at("state").get<std::string>().c_str());
  TEST_ASSERT_EQUAL_INT(90, told.at("accepted").get<int>());
  TEST_ASSERT_EQUAL_INT(6, told.at("rejected").get<int>());
  TEST_ASSERT_TRUE(told.at("recent_rejected_share").is_null());  // one verdict says nothing
  TEST_ASSERT_EQUAL_STRING("[[1769860800000,12.3,18.9,1]]", told.at("recent").dump().c_str());
  TEST_ASSERT_EQUAL_STRING(
      R"({"accepted":true,"altered":0.0,"bound":18.9,"delay":3,"distance":12.3,"reason":"accepted","version":812})",
      told.at("last").dump().c_str());
  TEST_ASSERT_EQUAL_STRING("2026-01-31T12:00:00Z", told.at("last_seen").get<std::string>().c_str());
  TEST_ASSERT_TRUE(told.at("distance_trend").is_null());
  TEST_ASSERT_FALSE(summaries.next(kStart + seconds(60), kWall).has_value());
}

TEST("A device that the store knows has its counts before it sends again, and nothing else") {
  DeviceSummaries summaries(1000);
  summaries.add("pi-1", 5, 7, 0);
  TEST_ASSERT_FALSE(summaries.next(kStart, kWall).has_value());
  summaries.all_due(kStart);
  const json told = next_json(summaries, kStart);
  TEST_ASSERT_EQUAL_INT(7, told.at("rejected").get<int>());
  for (const char* field :
       {"state", "recent_rejected_share", "last", "distance_ratio", "distance_trend", "last_seen"}) {
    TEST_ASSERT_TRUE_MESSAGE(told.at(field).is_null(), field);
  }
}

TEST("One that moves away from the reference and is rejected stands out") {
  DeviceSummaries summaries(1000);
  for (int i = 0; i < 20; ++i) {
    summaries.judged(judged("honest", true, 1, 2), kStart);
    summaries.judged(judged("drifting", i < 10, 1 + 0.2 * i, 2), kStart);
  }
  std::map<std::string, json> told;
  for (int i = 0; i < 2; ++i) {
    const json summary = next_json(summaries, kStart);
    told[summary.at("device").get<std::string>()] = summary;
  }
  TEST_ASSERT_EQUAL_DOUBLE(0.5, told["honest"].at("distance_ratio").get<double>());
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0, told["honest"].at("distance_trend").get<double>());
  TEST_ASSERT_DOUBLE_WITHIN(1e-6, 0.1, told["drifting"].at("distance_trend").get<double>());
  TEST_ASSERT_TRUE(told["drifting"].at("distance_ratio").get<double>() > 1);
  TEST_ASSERT_TRUE(told["drifting"].at("recent_rejected_share").get<double>() > 0.4);
  TEST_ASSERT_EQUAL_size_t(kMaxRecentVerdicts, told["drifting"].at("recent").size());
}

TEST("What is not a number is null, and a guard without a bound has no ratio") {
  DeviceSummaries summaries(1000);
  summaries.judged(judged("pi-1", false, std::nan(""), INFINITY), kStart);
  summaries.judged(judged("pi-1", true, 0.5, 0), kStart);
  const json told = next_json(summaries, kStart);
  TEST_ASSERT_TRUE(told.at("recent")[0][1].is_null() && told.at("recent")[0][2].is_null());
  TEST_ASSERT_TRUE(told.at("distance_ratio").is_null());
}

TEST("One device is told at most every two seconds, however much it sends") {
  DeviceSummaries summaries(1000);
  int told = 0;
  for (int ms = 0; ms < 10'000; ms += 10) {
    const auto now = kStart + milliseconds(ms);
    summaries.judged(judged("pi-1", true), now);
    while (summaries.next(now, kWall)) ++told;
  }
  TEST_ASSERT_EQUAL_INT(5, told);
}

TEST("All together keep to their rate, and everybody gets a turn") {
  DeviceSummaries summaries(50);
  std::map<std::string, int> told;
  int total = 0;
  for (int ms = 0; ms < 60'000; ms += 100) {
    const auto now = kStart + milliseconds(ms);
    for (int device = 0; device < 1000; ++device) {
      summaries.judged(judged("pi-" + std::to_string(device), true), now);
    }
    while (const auto due = summaries.next(now, kWall)) {
      ++told[due->device];
      ++total;
    }
  }
  TEST_ASSERT_LESS_OR_EQUAL_INT(50 * 61, total);
  TEST_ASSERT_GREATER_OR_EQUAL_INT(50 * 59, total);
  TEST_ASSERT_EQUAL_size_t(1000, told.size());
  for (const auto& [device, count] : told)
    TEST_ASSERT_TRUE_MESSAGE(count == 3 || count == 2 || count == 4, device.c_str());
}

TEST("Who leaves is forgotten and named") {
  DeviceSummaries summaries(1000);
  summaries.judged(judged("stays", true), kStart);
  summaries.judged(judged("leaves", true), kStart);
  const auto gone = summaries.forget_unless([](std::string_view device) { return device == "stays"; });
  TEST_ASSERT_EQUAL_size_t(1, gone.size());
  TEST_ASSERT_EQUAL_STRING("leaves", gone[0].c_str());
  TEST_ASSERT_EQUAL_STRING("stays", next_json(summaries, kStart).at("device").get<std::string>().c_str());
  TEST_ASSERT_FALSE(summaries.next(kStart + seconds(10), kWall).has_value());
}

TEST("Summaries are what they always were") {
  const auto wall = parse_rfc3339("2026-01-31T12:00:01Z").value();
  const auto altered = [](bool accepted, double distance, double bound, std::int64_t time_ms) {
    JudgedUpdate update = judged("pi-1", accepted, distance, bound);
    update.verdict.altered = accepted ? 0.31234567 : 0;
    update.time_ms = time_ms;
    return update;
  };
  DeviceSummaries summaries(1000);
  summaries.state_changed("pi-1", DeviceState::kTraining, kStart);
  summaries.refused("pi-1", 2, kStart);
  summaries.judged(altered(false, 310.21234567, 18.91234567, 1'769'860'797'000), kStart);
  summaries.judged(altered(false, std::nan(""), 18.9, 1'769'860'798'000), kStart);
  for (int i = 0; i < 4; ++i) {
    summaries.judged(altered(true, 12.3 + i, 18.9, 1'769'860'799'000 + i * 250), kStart);
  }
  assert_golden("device_summary.full", summaries.next(kStart, wall)->json);
  DeviceSummaries few(1000);
  few.add("pi-1", 5, 7, 0);
  few.all_due(kStart);
  assert_golden("device_summary.minimal", few.next(kStart, wall)->json);
}

TEST("The longest summary stays below 4 KB") {
  DeviceSummaries summaries(1000);
  const std::string device(kMaxIdentifierLength, 'x');
  for (int i = 0; i < 40; ++i) {
    JudgedUpdate update = judged(device, false, -1.2345678901234567e-300, 9.8765432109876543e300);
    update.verdict.reason = Reason::kResidualTooLong;
    update.accepted = update.rejected = update.verdict.delay = update.version = UINT64_MAX;
    update.time_ms = 9'223'372'036'000;  // the year 2262, as far as clocks count
    update.verdict.altered = 0.12345678901234567;
    summaries.judged(update, kStart);
  }
  summaries.refused(device, UINT64_MAX, kStart);
  summaries.state_changed(device, DeviceState::kDisconnected, kStart);
  const auto due = summaries.next(kStart, parse_rfc3339("2026-01-31T12:00:01Z").value());
  assert_golden("device_summary.limits", due->json);
}

TEST("A device is suspicious from its fourth verdict on, when half of the recent ones were rejections") {
  DeviceSummaries summaries(1000);
  summaries.add("restored", 0, 300, 0);
  for (int i = 0; i < 3; ++i) summaries.judged(judged("liar", false, 30, 10), kStart);
  TEST_ASSERT_EQUAL_size_t(0, summaries.suspicious());
  summaries.judged(judged("liar", false, 30, 10), kStart);
  TEST_ASSERT_EQUAL_size_t(1, summaries.suspicious());
  TEST_ASSERT_EQUAL_DOUBLE(1, next_json(summaries, kStart).at("recent_rejected_share").get<double>());
  for (int i = 0; i < 40; ++i) summaries.judged(judged("liar", true, 3, 10), kStart);
  TEST_ASSERT_EQUAL_size_t(0, summaries.suspicious());
  for (int i = 0; i < 40; ++i) summaries.judged(judged("liar", false, 30, 10), kStart);
  TEST_ASSERT_EQUAL_size_t(1, summaries.suspicious());
  (void)summaries.forget_unless([](std::string_view device) { return device != "liar"; });
  TEST_ASSERT_EQUAL_size_t(0, summaries.suspicious());
}
