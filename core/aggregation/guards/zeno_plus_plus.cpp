#include "core/aggregation/guards/zeno_plus_plus.h"

#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "ZENO";
constexpr std::uint16_t kVersion = 1;

}  // namespace

Decision ZenoPlusPlus::judge(const Submission& submission) {
  const ReferenceUpdate& reference = *submission.reference;
  const auto [dot, squared_norm] = dot_and_norm(submission.vector, reference.vector);
  const double norm = std::sqrt(squared_norm);
  Decision decision;
  if (!std::isfinite(norm)) {
    decision.verdict.reason = Reason::kNotFinite;
    return decision;
  }
  const double lengths = norm * reference.norm;
  decision.verdict.distance = lengths > 0 ? dot / lengths : 0;
  decision.verdict.accepted = dot > 0 && std::isfinite(dot);
  decision.verdict.reason = decision.verdict.accepted ? Reason::kAccepted : Reason::kAgainstReference;
  if (decision.verdict.accepted) {
    decision.direction = submission.vector;
    decision.scale = reference.norm / norm;
    decision.step_norm = reference.norm;
  }
  return decision;
}

std::vector<std::byte> ZenoPlusPlus::save() const {
  return StateWriter(kTag, kVersion).take();
}

Status ZenoPlusPlus::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  return state.finish();
}

GuardKind zeno_plus_plus_kind() {
  return {.name = "zeno++",
          .summary = "accepts what points along the reference update, rescaled to its length",
          .options = {},
          .make = [](const GuardSettings&) -> std::unique_ptr<Guard> {
            return std::make_unique<ZenoPlusPlus>();
          }};
}

}  // namespace aflguard
