#include "core/base/identifier.h"
#include "core/telemetry/rollout_status.h"
#include "tests/core/telemetry/golden.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

RolloutStatus trial() {
  return {.stage = RolloutStage::kTrial,
          .current = {1, "cnn", std::string(64, 'a')},
          .release = 3,
          .target = {2, "cnn-tanh", std::string(64, 'b')},
          .pieces = 12,
          .pieces_here = 12,
          .canaries = {{"pi-1", "passed", "loss 0.7 on 32 samples"}, {"pi-2", "waiting", ""}},
          .message = "waiting for pi-2"};
}

}  // namespace

TEST("The state of a roll-out is written as it always was") {
  assert_golden("rollout.full", to_json(trial()));
  assert_golden("rollout.minimal", to_json(RolloutStatus{}));
  RolloutStatus status = trial();
  status.message = kForeignText + " \xff";
  assert_golden("rollout.non_ascii", to_json(status));
  const std::string name(kMaxIdentifierLength, 'x');
  status.canaries.assign(99, {name, "failed", std::string(9999, '\x01')});
  status.target.name = status.message = std::string(9999, '\x01');
  const std::string text = to_json(status);
  TEST_ASSERT_TRUE(text.size() < 4096);
  TEST_ASSERT_EQUAL_size_t(kMaxShownCanaries, read_rollout_status(text)->canaries.size());
}

TEST("What is read of it writes the same state") {
  for (const char* name : {"rollout.full", "rollout.minimal"}) {
    const auto read = read_rollout_status(golden(name));
    TEST_ASSERT_TRUE_MESSAGE(read.has_value(), name);
    TEST_ASSERT_EQUAL_STRING(golden(name).c_str(), to_json(*read).c_str());
  }
}

TEST("What is not the state of a roll-out is none") {
  for (const char* text : {"", "{", "[]", R"({"schema":"aflguard-rollout-1"})",
                           R"({"schema":"aflguard-rollout-1","stage":"unknown"})",
                           R"({"schema":"aflguard-rollout-2","stage":"done"})", R"({"stage":"done"})"}) {
    TEST_ASSERT_FALSE_MESSAGE(read_rollout_status(text).has_value(), text);
  }
}
