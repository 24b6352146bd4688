#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "gateway_server/history/history_question.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using aflguard::testing::message_of;
using nlohmann::json;

namespace {

constexpr std::int64_t kNow = 1'769'860'800'000;
constexpr std::int64_t kHour = 3'600'000;

ReadQuestion read(const std::string& text) {
  return read_history_question(std::as_bytes(std::span(text)));
}

json good() {
  return {{"schema", "aflguard-history-question-1"},
          {"id", "7"},
          {"series", "fleet"},
          {"from_ms", kNow - kHour},
          {"to_ms", kNow},
          {"points", 300}};
}

std::string refusal(const char* field, const json& value) {
  json question = good();
  question[field] = value;
  return message_of(read(question.dump()).question);
}

HistoryPlan plan(std::int64_t span, std::int64_t points, std::int64_t ago = 0) {
  return plan_history({"", "", kNow - ago - span, kNow - ago, points}, kNow);
}

}  // namespace

TEST("A question is read with all its fields") {
  const auto fleet = read(good().dump());
  ASSERT_OK(fleet.question);
  TEST_ASSERT_EQUAL_STRING("7", fleet.question->id.c_str());
  TEST_ASSERT_EQUAL_STRING("", fleet.question->device.c_str());
  TEST_ASSERT_EQUAL_INT64(300, fleet.question->points);
  json device = good();
  device["series"] = "device";
  device["device"] = "pi-1";
  device["a field of tomorrow"] = {1, 2, 3};
  TEST_ASSERT_EQUAL_STRING("pi-1", read(device.dump()).question->device.c_str());
}

TEST("What is wrong is named, with the limit, and the answer keeps the question's id") {
  ASSERT_CONTAINS(refusal("points", 501), "'points' must be a whole number from 1 to 500, and is 501");
  ASSERT_CONTAINS(refusal("points", 0), "from 1 to 500");
  ASSERT_CONTAINS(refusal("points", 1.5), "whole number");
  ASSERT_CONTAINS(refusal("points", "300"), "whole number");
  ASSERT_CONTAINS(refusal("points", UINT64_MAX), "from 1 to 500");
  ASSERT_CONTAINS(refusal("from_ms", -1), "'from_ms'");
  ASSERT_CONTAINS(refusal("from_ms", UINT64_MAX), "'from_ms'");
  ASSERT_CONTAINS(refusal("from_ms", kNow), "'to_ms' must be above 'from_ms'");
  ASSERT_CONTAINS(refusal("to_ms", INT64_MAX), "'to_ms'");
  ASSERT_CONTAINS(refusal("series", "everything"), "must be fleet or device");
  ASSERT_CONTAINS(refusal("series", "device"), "'device' must be a text");
  ASSERT_CONTAINS(refusal("schema", "aflguard-history-question-2"), "this gateway knows");
  json question = good();
  question["series"] = "device";
  question["device"] = "' OR 1=1 --";
  ASSERT_CONTAINS(message_of(read(question.dump()).question), "no device's name");
  TEST_ASSERT_EQUAL_STRING("7", read(question.dump()).id.c_str());
}

TEST("What is no question at all is refused") {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("7"),
        std::string(1000, '['), std::string(1000, '{'), std::string("\xff\xfe"), std::string(1025, ' '),
        std::string(R"({"id":7})"), std::string(R"({"id":")") + std::string(65, 'x') + "\"}"}) {
    TEST_ASSERT_FALSE(read(text).question.ok());
  }
  ASSERT_CONTAINS(message_of(read(std::string(1025, ' ')).question), "over the limit of 1024");
}

TEST("An answer has no more points than wanted, and the finest step that is kept") {
  TEST_ASSERT_EQUAL_INT64(10'000, plan(kHour, 500).step_ms);
  TEST_ASSERT_EQUAL_INT64(20'000, plan(kHour, 181).step_ms);
  TEST_ASSERT_EQUAL_size_t(0, plan(24 * kHour - 60'000, 300).level);
  TEST_ASSERT_EQUAL_size_t(1, plan(24 * kHour, 288).level);
  TEST_ASSERT_EQUAL_INT64(300'000, plan(24 * kHour, 289).step_ms);
  // Yesterday's ten seconds are gone; last year's five minutes too.
  TEST_ASSERT_EQUAL_size_t(1, plan(kHour, 500, 48 * kHour).level);
  TEST_ASSERT_EQUAL_size_t(2, plan(kHour, 500, 400 * 24 * kHour).level);
  for (const std::int64_t points : {1, 2, 7, 100, 499, 500}) {
    for (const std::int64_t span :
         {std::int64_t{1}, std::int64_t{9'999}, kHour, 25 * kHour, 5000 * 24 * kHour}) {
      for (const std::int64_t ago : {std::int64_t{0}, std::int64_t{1}, std::int64_t{1'234'567}}) {
        const HistoryPlan made = plan(span, points, ago);
        const std::int64_t whole = kNow - ago - made.begin_ms;
        TEST_ASSERT_TRUE((whole + made.step_ms - 1) / made.step_ms <= points);
        TEST_ASSERT_TRUE(made.begin_ms <= kNow - ago - span);
        TEST_ASSERT_EQUAL_INT64(0, made.step_ms % kHistoryLevels[made.level].step_ms);
      }
    }
  }
}

TEST("Fine points add up to coarse ones") {
  std::vector<FleetPoint> fine;
  for (int i = 0; i < 6; ++i) fine.push_back({1000 + i * 10, 5U + static_cast<unsigned>(i), 1, 2, 0, 6, {}});
  fine[4].test_error = 0.25;
  fine.erase(fine.begin() + 1);
  const auto coarse = gather(fine, {0, 1000, 20});
  TEST_ASSERT_EQUAL_size_t(3, coarse.size());
  TEST_ASSERT_TRUE(coarse[0].time_ms == 1000 && coarse[0].accepted == 1);
  TEST_ASSERT_TRUE(coarse[1].time_ms == 1020 && coarse[1].accepted == 2 && coarse[1].version == 8);
  TEST_ASSERT_TRUE(coarse[2].test_error == 0.25 && coarse[2].version == 10 && coarse[2].delay_sum == 12);
}

TEST("A long answer comes in parts below 4 KB, in order, and the last one says so") {
  std::vector<FleetPoint> points(500);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {kNow + static_cast<std::int64_t>(i) * 10'000,
                 UINT64_MAX,
                 UINT64_MAX / 4,
                 UINT64_MAX / 4,
                 UINT64_MAX,
                 UINT64_MAX,
                 -1.2345678901234567e-300};
  }
  const auto messages = fleet_answer(std::string(64, '\x01'), 10'000, points);
  std::size_t rows = 0;
  for (std::size_t part = 0; part < messages.size(); ++part) {
    TEST_ASSERT_LESS_THAN_size_t(4096, messages[part].size());
    const json told = json::parse(messages[part]);
    TEST_ASSERT_EQUAL_size_t(part, told.at("part").get<std::size_t>());
    TEST_ASSERT_TRUE(told.at("last").get<bool>() == (part + 1 == messages.size()));
    TEST_ASSERT_EQUAL_size_t(8, told.at("fields").size());
    for (const json& row : told.at("points")) {
      TEST_ASSERT_EQUAL_size_t(8, row.size());
      TEST_ASSERT_EQUAL_INT64(points[rows++].time_ms, row[0].get<std::int64_t>());
    }
  }
  TEST_ASSERT_EQUAL_size_t(500, rows);
}

TEST("An answer without points is one message, and so is an error") {
  const auto none = device_answer("7", 10'000, {});
  TEST_ASSERT_EQUAL_size_t(1, none.size());
  TEST_ASSERT_EQUAL_STRING(
      R"({"schema":"aflguard-history-1","id":"7","series":"device","part":0,"last":true,"step_ms":10000,)"
      R"("fields":["time_ms","accepted","rejected","distance","bound","delay"],"points":[]})",
      none[0].c_str());
  TEST_ASSERT_EQUAL_STRING(R"({"schema":"aflguard-history-1","id":"7","last":true,"error":"no"})",
                           history_error("7", "no").c_str());
  TEST_ASSERT_LESS_THAN_size_t(4096,
                               history_error(std::string(64, '\x01'), std::string(9999, '\x01')).size());
}

TEST("Means are over what was measured, and null where nothing was") {
  const std::vector<DevicePoint> points = {{kNow, 1, 2, 1, 6, 2, 5, 8}, {kNow + 10'000, 1, 0, 0, 0, 0, 0, 0}};
  const json told = json::parse(device_answer("7", 10'000, points)[0]);
  TEST_ASSERT_EQUAL_STRING("[1769860800000,2,1,2.5,4.0,2.0]", told.at("points")[0].dump().c_str());
  TEST_ASSERT_EQUAL_STRING("[1769860810000,0,0,null,null,null]", told.at("points")[1].dump().c_str());
}
