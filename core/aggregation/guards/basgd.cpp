#include "core/aggregation/guards/basgd.h"

#include <algorithm>
#include <cmath>

#include "core/aggregation/guard_state.h"
#include "core/aggregation/vectors/vector_kernels.h"

namespace aflguard {
namespace {

constexpr std::string_view kTag = "BASG";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kMostBuffers = 64;

float median_of_three(float a, float b, float c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// Sorts `count` values in place (count is small) and takes the middle, or the mean of the two middles.
float median_of(float* values, std::size_t count) {
  for (std::size_t i = 1; i < count; ++i) {
    const float value = values[i];
    std::size_t j = i;
    for (; j > 0 && values[j - 1] > value; --j) values[j] = values[j - 1];
    values[j] = value;
  }
  const std::size_t middle = count / 2;
  return count % 2 == 1 ? values[middle] : values[middle - 1] / 2 + values[middle] / 2;
}

}  // namespace

Basgd::Basgd(std::size_t dimension, std::size_t buffers)
    : buffers_(buffers, Buffer{std::vector<float>(dimension), 0}), median_(dimension) {}

Decision Basgd::judge(const Submission& submission) {
  Decision decision;
  if (!std::isfinite(squared_norm(submission.vector))) {
    decision.verdict.reason = Reason::kNotFinite;
    return decision;
  }
  Buffer& buffer = buffers_[submission.client % buffers_.size()];
  for (std::size_t i = 0; i < buffer.sum.size(); ++i) buffer.sum[i] += submission.vector[i];
  if (buffer.updates++ == 0) ++filled_;
  decision.verdict.accepted = true;
  decision.verdict.reason = Reason::kBuffered;
  if (filled_ < buffers_.size()) return decision;
  take_median();
  clear();
  decision.verdict.reason = Reason::kAccepted;
  decision.direction = median_;
  decision.step_norm = std::sqrt(squared_norm(median_));  // not finite when a sum overflowed: no step then
  return decision;
}

void Basgd::take_median() {
  float scales[kMostBuffers];
  for (std::size_t b = 0; b < buffers_.size(); ++b)
    scales[b] = 1.0F / static_cast<float>(buffers_[b].updates);
  if (buffers_.size() == 3) {
    const float* a = buffers_[0].sum.data();
    const float* b = buffers_[1].sum.data();
    const float* c = buffers_[2].sum.data();
    for (std::size_t i = 0; i < median_.size(); ++i) {
      median_[i] = median_of_three(a[i] * scales[0], b[i] * scales[1], c[i] * scales[2]);
    }
    return;
  }
  float values[kMostBuffers];
  for (std::size_t i = 0; i < median_.size(); ++i) {
    for (std::size_t b = 0; b < buffers_.size(); ++b) values[b] = buffers_[b].sum[i] * scales[b];
    median_[i] = median_of(values, buffers_.size());
  }
}

void Basgd::clear() {
  for (Buffer& buffer : buffers_) {
    std::fill(buffer.sum.begin(), buffer.sum.end(), 0.0F);
    buffer.updates = 0;
  }
  filled_ = 0;
}

std::vector<std::byte> Basgd::save() const {
  StateWriter state(kTag, kVersion);
  state.number<std::uint64_t>(median_.size());
  state.number<std::uint64_t>(buffers_.size());
  for (const Buffer& buffer : buffers_) {
    state.number(buffer.updates);
    if (buffer.updates > 0) state.floats(buffer.sum);
  }
  return std::move(state).take();
}

Status Basgd::restore(std::span<const std::byte> bytes) {
  TRY(auto state, StateReader::open(bytes, kTag, kVersion));
  TRY_STATUS(state.expect(median_.size(), "dimension"));
  TRY_STATUS(state.expect(buffers_.size(), "number of buffers"));
  std::vector<Buffer> buffers(buffers_.size(), Buffer{std::vector<float>(median_.size()), 0});
  std::size_t filled = 0;
  for (Buffer& buffer : buffers) {
    TRY(buffer.updates, state.number<std::uint64_t>());
    if (buffer.updates == 0) continue;
    ++filled;
    TRY_STATUS(state.floats(buffer.sum));
  }
  TRY_STATUS(state.finish());
  if (filled == buffers.size()) return corrupt("state of 'BASG': every buffer is full, which cannot last");
  buffers_ = std::move(buffers);
  filled_ = filled;
  return {};
}

GuardKind basgd_kind() {
  return {.name = "basgd",
          .summary = "median of the means of B buffers of updates",
          .options = {{"buffers", 3, 1, kMostBuffers, "number of buffers B"}},
          .make = [](const GuardSettings& settings) -> std::unique_ptr<Guard> {
            return std::make_unique<Basgd>(settings.dimension,
                                           static_cast<std::size_t>(settings.option("buffers", 3)));
          }};
}

}  // namespace aflguard
