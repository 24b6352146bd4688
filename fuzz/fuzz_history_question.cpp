#include "core/base/check.h"
#include "core/base/identifier.h"
#include "core/telemetry/history_answer.h"
#include "core/telemetry/history_question.h"
#include "fuzz/target.h"
#include "gateway_server/history/history_plan.h"

using namespace aflguard;
using namespace aflguard::gateway;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ReadQuestion read = read_history_question(std::as_bytes(std::span(data, size)));
  check(read.id.size() <= kMaxQuestionId, "an id is short");
  if (!read.question.ok()) {
    check(history_error(read.id, read.question.error().message).size() < kMaxTelemetryBytes,
          "an error is a small message");
    return 0;
  }
  const HistoryQuestion& question = *read.question;
  check(question.device.empty() || is_identifier(question.device), "a device has a name");
  check(question.from_ms < question.to_ms && question.points >= 1 && question.points <= kMaxHistoryPoints,
        "a question is within its limits");
  constexpr std::int64_t kNow = 1'769'860'800'000;
  const HistoryPlan plan = plan_history(question, kNow);
  check(plan.begin_ms <= question.from_ms && plan.step_ms > 0, "a plan covers the question");
  check((question.to_ms - plan.begin_ms + plan.step_ms - 1) / plan.step_ms <= question.points,
        "an answer has no more points than wanted");
  return 0;
}
