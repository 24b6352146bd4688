#include "core/aggregation/global_model.h"

#include <algorithm>
#include <limits>

#include "core/aggregation/vectors/vector_kernels.h"
#include "core/base/check.h"

namespace aflguard {
namespace {

// Half of float's range leaves room for the rounding of the step itself.
constexpr double kLargestAllowed = static_cast<double>(std::numeric_limits<float>::max()) / 2;

}  // namespace

GlobalModel::GlobalModel(std::span<const float> initial, std::size_t history, std::uint64_t version)
    : slots_(history + 2, AlignedFloats(initial.size())), version_(version) {
  reset(initial, version);
}

std::span<const float> GlobalModel::at(std::uint64_t version) const {
  if (version > version_ || version_ - version > kept_) return {};
  return slot(version);
}

bool GlobalModel::can_move_by(double largest_change) {
  if (largest_magnitude_ + largest_change <= kLargestAllowed) return true;
  // The running bound only ever grows: measure before rejecting.
  largest_magnitude_ = largest_magnitude(parameters());
  return largest_magnitude_ + largest_change <= kLargestAllowed;
}

void GlobalModel::commit(double largest_change) {
  ++version_;
  kept_ = std::min<std::uint64_t>(kept_ + 1, history());
  largest_magnitude_ += largest_change;
}

void GlobalModel::reset(std::span<const float> parameters, std::uint64_t version) {
  check(parameters.size() == dimension(), "a model cannot change its dimension");
  version_ = version;
  kept_ = 0;
  std::copy(parameters.begin(), parameters.end(), slot(version_).begin());
  largest_magnitude_ = largest_magnitude(parameters);
  check(largest_magnitude_ <= std::numeric_limits<float>::max(), "a global model must be finite");
}

bool GlobalModel::prepend(std::span<const float> parameters) {
  if (parameters.size() != dimension() || kept_ == history() || oldest() == 0) return false;
  ++kept_;
  std::copy(parameters.begin(), parameters.end(), slot(oldest()).begin());
  return true;
}

}  // namespace aflguard
