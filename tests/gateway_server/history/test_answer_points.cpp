#include <nlohmann/json.hpp>  // before Unity, which defines isnan and isinf

#include "gateway_server/history/answer_points.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using nlohmann::json;

namespace {

constexpr std::int64_t kAskedAt = 1'769'860'800'000;
constexpr std::int64_t kFirst = 1'769'774'400'000;

}  // namespace

TEST("Answers about stored points are what they always were") {
  const std::vector<FleetPoint> fleet = {{kFirst, 100, 55, 4, 0, 148, 0.11},
                                         {kFirst + 300'000, 155, 0, 0, 3, 0, {}},
                                         {kFirst + 600'000, 156, 1, 0, 0, 2, 0.1098765}};
  assert_golden("history_answer.fleet", fleet_answer("7", 300'000, fleet)[0]);
  const std::vector<DevicePoint> device = {{kFirst, 1, 2, 1, 6, 2, 5, 8},
                                           {kFirst + 10'000, 1, 0, 1, 0, 0, 0, 0}};
  assert_golden("history_answer.device", device_answer("8", 10'000, device)[0]);
}

TEST("The parts of a long answer are what they always were") {
  constexpr std::uint64_t kMost = UINT64_MAX;
  std::vector<FleetPoint> points(40);
  for (std::size_t i = 0; i < points.size(); ++i) {
    points[i] = {kFirst + static_cast<std::int64_t>(i) * 10'000,
                 kMost,
                 kMost / 4,
                 kMost / 4,
                 kMost,
                 kMost,
                 -1.2345678901234567e-300};
  }
  const auto messages = fleet_answer(std::string(64, '\x01'), 10'000, points);
  TEST_ASSERT_EQUAL_size_t(2, messages.size());
  assert_golden("history_answer.limits", messages[0]);
  assert_golden("history_answer.last_part", messages[1]);
}

TEST("Means are over what was measured, and null where nothing was") {
  const std::vector<DevicePoint> points = {{kAskedAt, 1, 2, 1, 6, 2, 5, 8},
                                           {kAskedAt + 10'000, 1, 0, 0, 0, 0, 0, 0}};
  const json told = json::parse(device_answer("7", 10'000, points)[0]);
  TEST_ASSERT_EQUAL_STRING("[1769860800000,2,1,2.5,4.0,2.0]", told.at("points")[0].dump().c_str());
  TEST_ASSERT_EQUAL_STRING("[1769860810000,0,0,null,null,null]", told.at("points")[1].dump().c_str());
}
