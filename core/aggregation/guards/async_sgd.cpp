#include "core/aggregation/guards/async_sgd.h"

#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "ASGD";
constexpr std::uint16_t kVersion = 1;

}  // namespace

Decision AsyncSgd::judge(const Submission& submission) {
  const double norm =
      std::sqrt(norm_and_step(submission.vector, submission.parameters, submission.rate, submission.next));
  Decision decision;
  decision.verdict.accepted = std::isfinite(norm);
  decision.verdict.reason = decision.verdict.accepted ? Reason::kAccepted : Reason::kNotFinite;
  decision.wrote_next = decision.verdict.accepted;
  decision.step_norm = norm;
  return decision;
}

std::vector<std::byte> AsyncSgd::save() const {
  return StateWriter(kTag, kVersion).take();
}

Status AsyncSgd::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  return state.finish();
}

GuardKind async_sgd_kind() {
  return {
      .name = "asyncsgd",
      .summary = "no guard: applies every update",
      .options = {},
      .make = [](const GuardSettings&) -> std::unique_ptr<Guard> { return std::make_unique<AsyncSgd>(); }};
}

}  // namespace aflguard
