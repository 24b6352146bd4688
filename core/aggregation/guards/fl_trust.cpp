#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_kind.h"
#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "FLTR";
constexpr std::uint16_t kVersion = 1;

/// Cao et al., FLTrust (NDSS 2021), for one update at a time: the update, as long as the reference, counts as
/// much as its cosine with the reference, if that is positive. The paper divides by the sum of a round's
/// cosines; a round of one update would then trust every direction alike, so the cosine itself is the weight.
class FlTrust final : public Guard {
 public:
  [[nodiscard]] std::string_view name() const override { return "fltrust"; }
  [[nodiscard]] GuardNeeds needs() const override { return {.reference = true}; }

  [[nodiscard]] Decision judge(const Submission& submission) override {
    const ReferenceUpdate& reference = *submission.reference;
    const auto [dot, squared] = dot_and_norm(submission.vector, reference.vector);
    const double norm = std::sqrt(squared);
    Decision decision;
    if (!std::isfinite(norm)) {
      decision.verdict.reason = Reason::kNotFinite;
      return decision;
    }
    const double lengths = norm * reference.norm;
    const double cosine = lengths > 0 ? dot / lengths : 0;
    decision.verdict.distance = cosine;
    decision.verdict.accepted = cosine > 0 && std::isfinite(cosine);
    decision.verdict.reason = decision.verdict.accepted ? Reason::kAccepted : Reason::kAgainstReference;
    if (!decision.verdict.accepted) return decision;
    decision.direction = submission.vector;
    decision.scale = cosine * reference.norm / norm;
    decision.step_norm = cosine * reference.norm;
    return decision;
  }

  [[nodiscard]] std::unique_ptr<Guard> copy() const override { return std::make_unique<FlTrust>(*this); }
  [[nodiscard]] std::vector<std::byte> save() const override { return StateWriter(kTag, kVersion).take(); }
  [[nodiscard]] Status restore(std::span<const std::byte> bytes) override {
    TRY(auto state, StateReader::open(bytes, kTag, kVersion));
    return state.finish();
  }
};

}  // namespace

GuardKind fl_trust_kind() {
  return {.name = "fltrust",
          .summary = "FLTrust per update: rescaled to the reference's length, weighted by the cosine with it",
          .options = {},
          .make = [](const GuardSettings&) -> std::unique_ptr<Guard> { return std::make_unique<FlTrust>(); }};
}

}  // namespace aflguard
