#include "core/aggregation/guards/aflguard.h"

#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "AFLG";
constexpr std::uint16_t kVersion = 1;

}  // namespace

Decision AflGuard::judge(const Submission& submission) {
  const ReferenceUpdate& reference = *submission.reference;
  // The next model is written while the distance is measured, and forgotten if the update is rejected: one
  // pass over memory instead of two.
  const double distance = std::sqrt(distance_and_step(
      submission.vector, reference.vector, submission.parameters, submission.rate, submission.next));
  const double bound = lambda_ * reference.norm;
  Decision decision;
  decision.verdict.distance = distance;
  decision.verdict.bound = bound;
  // "Not further than" rather than "further than": a NaN on either side must reject. An infinite distance
  // means an infinite coordinate, whatever the bound.
  decision.verdict.accepted = distance <= bound && std::isfinite(distance);
  decision.verdict.reason = decision.verdict.accepted ? Reason::kAccepted
                            : std::isfinite(distance) ? Reason::kTooFar
                                                      : Reason::kNotFinite;
  decision.wrote_next = decision.verdict.accepted;
  decision.step_norm = distance + reference.norm;
  return decision;
}

std::vector<std::byte> AflGuard::save() const {
  return StateWriter(kTag, kVersion).take();
}

Status AflGuard::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  return state.finish();
}

GuardKind aflguard_kind() {
  return {.name = "aflguard",
          .summary = "accepts what is within lambda ||g_s|| of the reference update g_s",
          .options = {},
          .make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
            return std::make_unique<AflGuard>(settings.lambda);
          }};
}

}  // namespace aflguard
