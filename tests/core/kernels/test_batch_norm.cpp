#include <cmath>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/kernels/kernels.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

constexpr std::size_t kSamples = 3;
constexpr std::size_t kChannels = 5;
constexpr std::size_t kPlane = 19;  // not a multiple of a vector
constexpr std::size_t kSize = kSamples * kChannels * kPlane;

struct Case {
  std::vector<float> x, residual, scale, bias, dy;
};

Case random_case() {
  Random random(4);
  const auto draw = [&random](std::size_t count, double mean) {
    std::vector<float> values(count);
    for (float& v : values) v = static_cast<float>(mean + random.normal());
    return values;
  };
  return {draw(kSize, 3), draw(kSize, 0), draw(kChannels, 1), draw(kChannels, 0), draw(kSize, 0)};
}

std::size_t channel_of(std::size_t i) {
  return i / kPlane % kChannels;
}

/// sum of dy * relu(batch_norm(x) + residual), from the definition.
double weighted_output(const Case& c, const std::vector<double>& x, const std::vector<double>& scale,
                       std::vector<double>* outputs = nullptr) {
  double sum = 0;
  for (std::size_t channel = 0; channel < kChannels; ++channel) {
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i < kSize; ++i) mean += channel_of(i) == channel ? x[i] : 0;
    mean /= kSamples * kPlane;
    for (std::size_t i = 0; i < kSize; ++i) {
      variance += channel_of(i) == channel ? (x[i] - mean) * (x[i] - mean) : 0;
    }
    variance /= kSamples * kPlane;
    for (std::size_t i = 0; i < kSize; ++i) {
      if (channel_of(i) != channel) continue;
      const double y = (x[i] - mean) / std::sqrt(variance + 1e-5) * scale[channel] + double{c.bias[channel]} +
                       double{c.residual[i]};
      if (outputs != nullptr) (*outputs)[i] = std::max(y, 0.0);
      sum += double{c.dy[i]} * std::max(y, 0.0);
    }
  }
  return sum;
}

}  // namespace

TEST(
    "Batch normalisation with residual and rectifier agrees with its definition and with finite "
    "differences") {
  const Case c = random_case();
  const std::vector<double> x(c.x.begin(), c.x.end());
  const std::vector<double> scale(c.scale.begin(), c.scale.end());
  std::vector<double> want(kSize);
  (void)weighted_output(c, x, scale, &want);
  const auto tables = kernels::runnable_kernels();
  for (std::size_t t = 0; t < tables.count; ++t) {
    const kernels::KernelTable& k = *tables.tables[t];
    std::vector<float> y(kSize), mean(kChannels), inverse(kChannels), dx(kSize), dscale(kChannels),
        dbias(kChannels), dresidual(kSize);
    k.batch_norm_forward({kSamples, kChannels, kPlane, 0, kChannels, c.x.data(), c.scale.data(),
                          c.bias.data(), c.residual.data(), true, 1e-5F, y.data(), mean.data(),
                          inverse.data()});
    for (std::size_t i = 0; i < kSize; ++i) TEST_ASSERT_DOUBLE_WITHIN(1e-5, want[i], double{y[i]});
    k.batch_norm_backward({kSamples, kChannels, kPlane, 0, kChannels, c.dy.data(), c.x.data(), y.data(),
                           c.scale.data(), mean.data(), inverse.data(), dx.data(), dscale.data(),
                           dbias.data(), dresidual.data()});
    for (std::size_t i = 0; i < kSize; i += 7) {
      auto up = x;
      auto down = x;
      up[i] += 1e-6;
      down[i] -= 1e-6;
      const double slope = (weighted_output(c, up, scale) - weighted_output(c, down, scale)) / 2e-6;
      TEST_ASSERT_DOUBLE_WITHIN(2e-5, slope, double{dx[i]});
    }
    std::vector<double> bias_sums(kChannels);
    for (std::size_t i = 0; i < kSize; ++i) {
      const double masked = want[i] > 0 ? double{c.dy[i]} : 0;
      bias_sums[channel_of(i)] += masked;
      TEST_ASSERT_DOUBLE_WITHIN(0, masked, double{dresidual[i]});
    }
    for (std::size_t channel = 0; channel < kChannels; ++channel) {
      TEST_ASSERT_DOUBLE_WITHIN(1e-5, bias_sums[channel], double{dbias[channel]});
      auto up = scale;
      auto down = scale;
      up[channel] += 1e-6;
      down[channel] -= 1e-6;
      const double slope = (weighted_output(c, x, up) - weighted_output(c, x, down)) / 2e-6;
      TEST_ASSERT_DOUBLE_WITHIN(2e-5, slope, double{dscale[channel]});
    }
  }
}
