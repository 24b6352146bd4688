#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/random.h"
#include "core/kernels/convolution.h"
#include "core/kernels/worker_threads.h"
#include "tests/support/test.h"

using namespace aflguard;
using kernels::ConvShape;

namespace {

struct Reference {
  std::vector<double> y, dx, dweights, dbias;
};

std::vector<float> random_values(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.normal());
  return values;
}

struct Inputs {
  std::size_t samples;
  std::vector<float> x, weights, bias, dy;
};

Inputs random_inputs(const ConvShape& s, std::size_t samples, std::uint64_t seed) {
  Random random(seed);
  return {samples, random_values(random, samples * s.in_channels * s.height * s.width),
          random_values(random, s.out_channels * s.taps()), random_values(random, s.out_channels),
          random_values(random, samples * s.out_channels * s.out_plane())};
}

/// Calls body(index in x, index in weights) for every tap of output pixel (i, j) of one sample and channel.
template <typename Body>
void for_each_tap(const ConvShape& s, std::size_t n, std::size_t o, std::size_t i, std::size_t j,
                  Body&& body) {
  for (std::size_t c = 0; c < s.in_channels; ++c) {
    for (std::size_t a = 0; a < s.kernel_h; ++a) {
      for (std::size_t b = 0; b < s.kernel_w; ++b) {
        const std::size_t row = i * s.stride_h + a * s.dilation_h - s.pad_top;
        const std::size_t column = j * s.stride_w + b * s.dilation_w - s.pad_left;
        if (row >= s.height || column >= s.width) continue;  // wrapped below zero, or beyond the image
        body(((n * s.in_channels + c) * s.height + row) * s.width + column,
             ((o * s.in_channels + c) * s.kernel_h + a) * s.kernel_w + b);
      }
    }
  }
}

/// Straight from the definition, in double.
Reference reference(const ConvShape& s, const Inputs& in, bool rectify) {
  Reference r;
  r.y.resize(in.dy.size());
  r.dx.resize(in.x.size());
  r.dweights.resize(in.weights.size());
  r.dbias.resize(in.bias.size());
  for (std::size_t n = 0; n < in.samples; ++n) {
    for (std::size_t o = 0; o < s.out_channels; ++o) {
      for (std::size_t p = 0; p < s.out_plane(); ++p) {
        double best = -1e300;
        std::size_t best_i = 0;
        std::size_t best_j = 0;
        for (std::size_t w = 0; w < s.window(); ++w) {
          const std::size_t i = p / s.out_w() * s.pool_h + w / s.pool_w;
          const std::size_t j = p % s.out_w() * s.pool_w + w % s.pool_w;
          double sum = in.bias[o];
          for_each_tap(s, n, o, i, j,
                       [&](std::size_t x, std::size_t k) { sum += double{in.x[x]} * double{in.weights[k]}; });
          if (sum > best) best = sum, best_i = i, best_j = j;
        }
        const std::size_t at = (n * s.out_channels + o) * s.out_plane() + p;
        r.y[at] = rectify && best < 0 ? 0 : best;
        const double dy = rectify && best <= 0 ? 0 : double{in.dy[at]};
        r.dbias[o] += dy;
        for_each_tap(s, n, o, best_i, best_j, [&](std::size_t x, std::size_t k) {
          r.dx[x] += dy * double{in.weights[k]};
          r.dweights[k] += dy * double{in.x[x]};
        });
      }
    }
  }
  return r;
}

void assert_close(const std::vector<double>& want, const std::vector<float>& have, const std::string& what) {
  double largest = 0;
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::abs(want[i]));
    worst = std::max(worst, std::abs(want[i] - double{have[i]}));
  }
  TEST_ASSERT_TRUE_MESSAGE(worst <= 1e-5 * largest, (what + ": off by " + std::to_string(worst)).c_str());
}

void check_shape(const std::string& name, const ConvShape& s, bool rectify, std::size_t samples = 3) {
  TEST_ASSERT_TRUE_MESSAGE(s.valid(), name.c_str());
  const Inputs in = random_inputs(s, samples, 17);
  const Reference want = reference(s, in, rectify);
  kernels::OneWorker alone;
  kernels::Scratch scratch;
  const kernels::Workshop shop{alone, scratch};
  const auto tables = kernels::runnable_kernels();
  for (std::size_t t = 0; t < tables.count; ++t) {
    kernels::Convolution convolution(s, *tables.tables[t]);
    const std::string at = name + " (" + tables.tables[t]->name + ") ";
    std::vector<float> y(want.y.size());
    std::vector<float> dx(want.dx.size());
    std::vector<float> dweights(want.dweights.size());
    std::vector<float> dbias(want.dbias.size());
    std::vector<std::uint8_t> choices(samples * convolution.choice_size());
    const bool pooled = s.window() > 1;
    convolution.forward(
        {samples, in.x.data(), in.weights.data(), in.bias.data(), rectify, y.data(), choices.data()}, shop);
    assert_close(want.y, y, at + "y");
    convolution.backward(
        {samples, in.x.data(), in.weights.data(), in.dy.data(), rectify && !pooled ? y.data() : nullptr,
         pooled ? choices.data() : nullptr, dx.data(), dweights.data(), dbias.data()},
        shop);
    assert_close(want.dx, dx, at + "dx");
    assert_close(want.dweights, dweights, at + "dweights");
    assert_close(want.dbias, dbias, at + "dbias");
    // Without the input's gradient the kernels may take another way to the weights'.
    std::fill(dweights.begin(), dweights.end(), 0.0F);
    convolution.backward(
        {samples, in.x.data(), in.weights.data(), in.dy.data(), rectify && !pooled ? y.data() : nullptr,
         pooled ? choices.data() : nullptr, nullptr, dweights.data(), nullptr},
        shop);
    assert_close(want.dweights, dweights, at + "dweights alone");
  }
}

ConvShape shape(std::size_t in, std::size_t h, std::size_t w, std::size_t out, std::size_t kernel) {
  ConvShape s;
  s.in_channels = in;
  s.height = h;
  s.width = w;
  s.out_channels = out;
  s.kernel_h = s.kernel_w = kernel;
  return s;
}

struct Results {
  std::vector<float> y, dx, dweights, dbias;
  bool operator==(const Results&) const = default;
};

Results results_with(std::size_t workers, const ConvShape& s, const kernels::KernelTable& table,
                     const Inputs& in) {
  kernels::WorkerThreads several(workers);
  kernels::Scratch scratch;
  const kernels::Workshop shop{several, scratch};
  kernels::Convolution convolution(s, table);
  Results r{std::vector<float>(in.dy.size()), std::vector<float>(in.x.size()),
            std::vector<float>(in.weights.size()), std::vector<float>(in.bias.size())};
  std::vector<std::uint8_t> choices(in.samples * convolution.choice_size());
  const bool pooled = s.window() > 1;
  convolution.forward(
      {in.samples, in.x.data(), in.weights.data(), in.bias.data(), true, r.y.data(), choices.data()}, shop);
  convolution.backward(
      {in.samples, in.x.data(), in.weights.data(), in.dy.data(), pooled ? nullptr : r.y.data(),
       pooled ? choices.data() : nullptr, r.dx.data(), r.dweights.data(), r.dbias.data()},
      shop);
  return r;
}

}  // namespace

TEST("Any number of workers gives the same bits") {
  ConvShape plain = shape(16, 9, 8, 37, 3);
  plain.pad_top = plain.pad_left = plain.pad_bottom = plain.pad_right = 1;
  ConvShape strided = plain;
  strided.stride_h = strided.stride_w = 2;
  ConvShape pooled = shape(5, 11, 12, 18, 3);
  pooled.pool_h = pooled.pool_w = 2;
  ConvShape patches = pooled;
  patches.in_channels = 1;
  patches.pad_top = 1;
  const auto tables = kernels::runnable_kernels();
  for (const ConvShape& s : {plain, strided, pooled, patches, shape(3, 5, 5, 4, 1)}) {
    for (const std::size_t samples : {1U, 2U, 17U}) {
      const Inputs in = random_inputs(s, samples, 5);
      for (std::size_t t = 0; t < tables.count; ++t) {
        const Results alone = results_with(1, s, *tables.tables[t], in);
        for (const std::size_t workers : {2U, 3U, 4U, 9U}) {
          TEST_ASSERT_TRUE_MESSAGE(results_with(workers, s, *tables.tables[t], in) == alone,
                                   tables.tables[t]->name);
        }
      }
    }
  }
}

TEST("A group is one sample for a lone worker, and never smaller than the workers or larger than the batch") {
  TEST_ASSERT_EQUAL_UINT(1, kernels::group_size(1, 64, 10));
  TEST_ASSERT_EQUAL_UINT(4, kernels::group_size(4, 64, 1U << 20));
  TEST_ASSERT_EQUAL_UINT(64, kernels::group_size(4, 64, 10));
  TEST_ASSERT_EQUAL_UINT(3, kernels::group_size(4, 3, 10));
}

TEST(
    "A plain convolution and its gradients agree with the definition at every channel count around a block") {
  for (std::size_t out : {1U, 7U, 8U, 9U, 15U, 16U, 17U, 24U, 25U, 33U}) {
    check_shape("out " + std::to_string(out), shape(3, 7, 9, out, 3), false);
  }
}

TEST("Padding on every side, also more than the kernel, agrees with the definition") {
  ConvShape s = shape(2, 6, 5, 4, 3);
  s.pad_top = 1, s.pad_left = 2, s.pad_bottom = 0, s.pad_right = 4;
  check_shape("asymmetric padding", s, false);
}

TEST("Strides and dilations, also together and unequal, agree with the definition") {
  for (std::size_t stride : {1U, 2U, 3U}) {
    for (std::size_t dilation : {1U, 2U, 3U}) {
      ConvShape s = shape(2, 13, 11, 5, 3);
      s.stride_h = stride, s.stride_w = 4 - stride;
      s.dilation_h = dilation, s.dilation_w = 4 - dilation;
      s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 2;
      check_shape("stride " + std::to_string(stride) + " dilation " + std::to_string(dilation), s, false);
    }
  }
}

TEST("A one by one kernel with stride two leaves the skipped pixels without gradient") {
  ConvShape s = shape(4, 6, 6, 8, 1);
  s.stride_h = s.stride_w = 2;
  check_shape("1x1 stride 2", s, false);
}

TEST("The rectifier closes outputs and their gradients") {
  ConvShape s = shape(3, 8, 8, 10, 3);
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = 1;
  check_shape("rectified", s, true);
}

TEST("Pooling keeps each window's maximum and sends the gradient there alone, also with a rest at the edge") {
  ConvShape s = shape(2, 11, 13, 18, 3);
  s.pool_h = s.pool_w = 2;
  check_shape("pool 2x2", s, true);
  check_shape("pool 2x2 without rectifier", s, false);
  s.pool_h = 3;
  s.pool_w = 1;
  s.pad_left = 1;
  check_shape("pool 3x1 with padding", s, true);
  s.pool_h = s.pool_w = 4;
  check_shape("pool 4x4", s, true);
  for (std::size_t in : {1U, 8U, 17U, 24U, 30U}) {
    ConvShape deep = shape(in, 9, 10, 5, in == 8 ? 5 : 3);
    deep.pool_h = deep.pool_w = 2;
    deep.stride_h = in == 17 ? 2 : 1;
    deep.dilation_w = in == 24 ? 2 : 1;
    check_shape("pool over " + std::to_string(in) + " channels", deep, true);
  }
}

TEST("Flat regions, where every pixel of a window ties, send the gradient to exactly one pixel") {
  ConvShape s = shape(1, 4, 4, 1, 1);
  s.pool_h = s.pool_w = 2;
  const std::vector<float> x(16, 1.0F);
  const float weight = 1;
  const std::vector<float> dy(4, 1.0F);
  std::vector<float> y(4);
  std::vector<float> dx(16);
  float dweight = 0;
  kernels::OneWorker alone;
  kernels::Scratch scratch;
  const kernels::Workshop shop{alone, scratch};
  kernels::Convolution convolution(s, kernels::best_kernels());
  std::vector<std::uint8_t> choices(convolution.choice_size());
  convolution.forward({1, x.data(), &weight, nullptr, true, y.data(), choices.data()}, shop);
  convolution.backward(
      {1, x.data(), &weight, dy.data(), nullptr, choices.data(), dx.data(), &dweight, nullptr}, shop);
  int ones = 0;
  for (float value : dx) ones += value == 1.0F ? 1 : 0;
  TEST_ASSERT_EQUAL_INT(4, ones);
  TEST_ASSERT_EQUAL_FLOAT(4, dweight);
}

TEST("A kernel that is larger than the image is not valid shape") {
  TEST_ASSERT_FALSE(shape(1, 2, 2, 1, 3).valid());
  ConvShape s = shape(1, 40, 40, 1, 1);
  s.pool_h = 17;
  TEST_ASSERT_FALSE(s.valid());
}
