#include "core/aggregation/guards/sync_aflguard.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "SYNC";
constexpr std::uint16_t kVersion = 1;

}  // namespace

SyncAflGuard::SyncAflGuard(std::size_t dimension, double lambda, std::uint64_t round)
    : lambda_(lambda), round_(std::max<std::uint64_t>(1, round)), sum_(dimension), mean_(dimension) {}

Decision SyncAflGuard::judge(const Submission& submission) {
  const ReferenceUpdate& reference = *submission.reference;
  const double distance = std::sqrt(squared_distance(submission.vector, reference.vector));
  Decision decision;
  decision.verdict.distance = distance;
  decision.verdict.bound = lambda_ * reference.norm;
  decision.verdict.accepted = distance <= decision.verdict.bound && std::isfinite(distance);
  decision.verdict.reason = decision.verdict.accepted ? Reason::kBuffered
                            : std::isfinite(distance) ? Reason::kTooFar
                                                      : Reason::kNotFinite;
  if (decision.verdict.accepted) {
    for (std::size_t i = 0; i < sum_.size(); ++i) sum_[i] += submission.vector[i];
    ++accepted_;
  }
  if (++judged_ < round_) return decision;
  if (accepted_ > 0) {
    const float scale = 1.0F / static_cast<float>(accepted_);
    for (std::size_t i = 0; i < sum_.size(); ++i) mean_[i] = sum_[i] * scale;
    decision.direction = mean_;
    decision.step_norm = std::sqrt(squared_norm(mean_));
    if (decision.verdict.accepted) decision.verdict.reason = Reason::kAccepted;
  }
  std::fill(sum_.begin(), sum_.end(), 0.0F);
  judged_ = 0;
  accepted_ = 0;
  return decision;
}

std::vector<std::byte> SyncAflGuard::save() const {
  StateWriter state(kTag, kVersion);
  state.number<std::uint64_t>(sum_.size());
  state.number<std::uint64_t>(round_);
  state.number(judged_);
  state.number(accepted_);
  state.floats(sum_);
  return std::move(state).take();
}

Status SyncAflGuard::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  TRY_STATUS(state.expect(sum_.size(), "dimension"));
  TRY_STATUS(state.expect(round_, "updates per round"));
  TRY(const auto judged, state.number<std::uint64_t>());
  TRY(const auto accepted, state.number<std::uint64_t>());
  if (judged >= round_ || accepted > judged) return corrupt("state of 'SYNC': impossible counts");
  std::vector<float> sum(sum_.size());
  TRY_STATUS(state.floats(sum));
  TRY_STATUS(state.finish());
  judged_ = judged;
  accepted_ = accepted;
  sum_ = std::move(sum);
  return {};
}

GuardKind sync_aflguard_kind() {
  return {.name = "sync-aflguard",
          .summary = "AFLGuard's rule in rounds: the mean of what each round accepts",
          .options = {{"round", 0, 0, 1e9, "updates per round; 0: one from every client"}},
          .make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
            const auto round = static_cast<std::uint64_t>(settings.option("round", 0));
            return std::make_unique<SyncAflGuard>(settings.dimension, settings.lambda,
                                                  round > 0 ? round : settings.clients);
          }};
}

}  // namespace aflguard
