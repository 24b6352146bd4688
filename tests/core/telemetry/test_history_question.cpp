#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "core/base/identifier.h"
#include "core/telemetry/history_question.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

constexpr std::int64_t kNow = 1'769'860'800'000;
constexpr std::int64_t kHour = 3'600'000;
constexpr std::int64_t kDay = 24 * kHour;

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

}  // namespace

TEST("A question is written as it always was, and read as it was written") {
  const HistoryQuestion fleet{"7", "", kNow - kDay, kNow, 300};
  const HistoryQuestion device{"8", "pi-1", kNow - kDay, kNow, 300};
  const HistoryQuestion longest{std::string(kMaxQuestionId, '9'), std::string(kMaxIdentifierLength, 'x'), 0,
                                9'223'372'036'000, kMaxHistoryPoints};
  assert_golden("history_question.fleet", to_json(fleet));
  assert_golden("history_question.device", to_json(device));
  assert_golden("history_question.limits", to_json(longest));
  for (const HistoryQuestion& question : {fleet, device, longest}) {
    const ReadQuestion again = read(to_json(question));
    ASSERT_OK(again.question);
    TEST_ASSERT_EQUAL_STRING(question.id.c_str(), again.id.c_str());
    TEST_ASSERT_EQUAL_STRING(to_json(question).c_str(), to_json(*again.question).c_str());
  }
}

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
  ASSERT_CONTAINS(message_of(read(question.dump()).question), "not a device's name");
  TEST_ASSERT_EQUAL_STRING("7", read(question.dump()).id.c_str());
}

TEST("What is not a question at all is refused") {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string("7"),
        std::string(1000, '['), std::string(1000, '{'), std::string("\xff\xfe"), std::string(1025, ' '),
        std::string(R"({"id":7})"), std::string(R"({"id":")") + std::string(65, 'x') + "\"}"}) {
    TEST_ASSERT_FALSE(read(text).question.ok());
  }
  ASSERT_CONTAINS(message_of(read(std::string(1025, ' ')).question), "over the limit of 1024");
}
