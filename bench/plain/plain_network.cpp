#include "bench/plain/plain_network.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace aflguard::bench {
namespace {

using Floats = std::vector<float>;

struct Extent {
  std::size_t channels, height, width;
  [[nodiscard]] std::size_t plane() const { return height * width; }
  [[nodiscard]] std::size_t size() const { return channels * height * width; }
};

/// A layer keeps its result and the gradient of that; the one before it gives it its input.
struct Layer {
  virtual ~Layer() = default;
  Layer* before = nullptr;
  Extent in{}, out{};
  Floats y, dy;

  [[nodiscard]] virtual std::size_t parameters() const { return 0; }
  virtual void forward(const float* theta, std::size_t samples) = 0;
  /// Adds to the gradient of the layer before, and writes those of its parameters.
  virtual void backward(const float* theta, float* gradient, std::size_t samples) = 0;

  [[nodiscard]] const float* x(std::size_t sample) const { return before->y.data() + sample * in.size(); }
  [[nodiscard]] float* dx(std::size_t sample) const { return before->dy.data() + sample * in.size(); }
};

struct Input final : Layer {
  void forward(const float*, std::size_t) override {}
  void backward(const float*, float*, std::size_t) override {}
};

struct Conv final : Layer {
  std::size_t stride = 1, pad = 0;
  bool biased = false;
  static constexpr std::size_t kKernel = 3;

  [[nodiscard]] std::size_t weights() const { return out.channels * in.channels * kKernel * kKernel; }
  [[nodiscard]] std::size_t parameters() const override { return weights() + (biased ? out.channels : 0); }

  /// Calls body(weight, first input index, first output index, outputs) for every weight and row of outputs
  /// that it takes part in; inputs are `stride` apart.
  template <typename Body>
  void for_each_row(Body&& body) const {
    for (std::size_t o = 0; o < out.channels; ++o) {
      for (std::size_t c = 0; c < in.channels; ++c) {
        for (std::size_t i = 0; i < kKernel; ++i) {
          for (std::size_t j = 0; j < kKernel; ++j) {
            const std::size_t weight = ((o * in.channels + c) * kKernel + i) * kKernel + j;
            const std::size_t first = j >= pad ? 0 : (pad - j + stride - 1) / stride;
            const std::size_t end = std::min(out.width, (in.width + pad - j + stride - 1) / stride);
            for (std::size_t row = 0; row < out.height; ++row) {
              const std::size_t from = row * stride + i;
              if (from < pad || from - pad >= in.height) continue;
              body(weight, (c * in.height + from - pad) * in.width + first * stride + j - pad,
                   (o * out.height + row) * out.width + first, end - first);
            }
          }
        }
      }
    }
  }

  void forward(const float* theta, std::size_t samples) override {
    for (std::size_t n = 0; n < samples; ++n) {
      const float* from = x(n);
      float* to = y.data() + n * out.size();
      for (std::size_t k = 0; k < out.size(); ++k) to[k] = biased ? theta[weights() + k / out.plane()] : 0.0F;
      for_each_row([&](std::size_t weight, std::size_t input, std::size_t output, std::size_t count) {
        const float w = theta[weight];
        for (std::size_t k = 0; k < count; ++k) to[output + k] += w * from[input + k * stride];
      });
    }
  }

  void backward(const float* theta, float* gradient, std::size_t samples) override {
    for (std::size_t n = 0; n < samples; ++n) {
      const float* from = x(n);
      const float* slope = dy.data() + n * out.size();
      float* to = dx(n);
      for_each_row([&](std::size_t weight, std::size_t input, std::size_t output, std::size_t count) {
        const float w = theta[weight];
        float sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
          sum += slope[output + k] * from[input + k * stride];
          to[input + k * stride] += w * slope[output + k];
        }
        gradient[weight] += sum;
      });
      for (std::size_t k = 0; biased && k < out.size(); ++k)
        gradient[weights() + k / out.plane()] += slope[k];
    }
  }
};

struct Relu final : Layer {
  void forward(const float*, std::size_t samples) override {
    for (std::size_t i = 0; i < samples * in.size(); ++i) y[i] = std::max(before->y[i], 0.0F);
  }
  void backward(const float*, float*, std::size_t samples) override {
    for (std::size_t i = 0; i < samples * in.size(); ++i) before->dy[i] += y[i] > 0 ? dy[i] : 0.0F;
  }
};

struct MaxPool final : Layer {
  template <typename Body>
  void for_each_winner(std::size_t samples, Body&& body) {
    for (std::size_t p = 0; p < samples * out.size(); ++p) {
      const std::size_t plane = p / out.plane() * in.plane();
      const std::size_t corner = plane + p % out.plane() / out.width * 2 * in.width + p % out.width * 2;
      std::size_t best = corner;
      for (const std::size_t other : {corner + 1, corner + in.width, corner + in.width + 1}) {
        if (before->y[other] > before->y[best]) best = other;
      }
      body(p, best);
    }
  }
  void forward(const float*, std::size_t samples) override {
    for_each_winner(samples, [&](std::size_t p, std::size_t best) { y[p] = before->y[best]; });
  }
  void backward(const float*, float*, std::size_t samples) override {
    for_each_winner(samples, [&](std::size_t p, std::size_t best) { before->dy[best] += dy[p]; });
  }
};

struct Dense final : Layer {
  [[nodiscard]] std::size_t parameters() const override { return out.size() * (in.size() + 1); }

  void forward(const float* theta, std::size_t samples) override {
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t o = 0; o < out.size(); ++o) {
        float sum = theta[out.size() * in.size() + o];
        for (std::size_t i = 0; i < in.size(); ++i) sum += theta[o * in.size() + i] * x(n)[i];
        y[n * out.size() + o] = sum;
      }
    }
  }
  void backward(const float* theta, float* gradient, std::size_t samples) override {
    for (std::size_t n = 0; n < samples; ++n) {
      const float* from = x(n);
      float* to = dx(n);
      for (std::size_t o = 0; o < out.size(); ++o) {
        const float slope = dy[n * out.size() + o];
        for (std::size_t i = 0; i < in.size(); ++i) {
          gradient[o * in.size() + i] += slope * from[i];
          to[i] += slope * theta[o * in.size() + i];
        }
        gradient[out.size() * in.size() + o] += slope;
      }
    }
  }
};

/// With the batch's own statistics.
struct BatchNorm final : Layer {
  Floats normed, inverse;
  [[nodiscard]] std::size_t parameters() const override { return 2 * in.channels; }

  template <typename Body>
  void for_each_of(std::size_t channel, std::size_t samples, Body&& body) const {
    for (std::size_t n = 0; n < samples; ++n) {
      const std::size_t first = n * in.size() + channel * in.plane();
      for (std::size_t i = first; i < first + in.plane(); ++i) body(i);
    }
  }
  void forward(const float* theta, std::size_t samples) override {
    normed.resize(samples * in.size());
    inverse.resize(in.channels);
    const Floats& from = before->y;
    const double count = static_cast<double>(samples * in.plane());
    for (std::size_t c = 0; c < in.channels; ++c) {
      double sum = 0;
      double squares = 0;
      for_each_of(c, samples, [&](std::size_t i) { sum += from[i]; });
      const auto mean = static_cast<float>(sum / count);
      for_each_of(c, samples, [&](std::size_t i) { squares += (from[i] - mean) * (from[i] - mean); });
      inverse[c] = static_cast<float>(1 / std::sqrt(squares / count + 1e-5));
      for_each_of(c, samples, [&](std::size_t i) {
        normed[i] = (from[i] - mean) * inverse[c];
        y[i] = theta[c] * normed[i] + theta[in.channels + c];
      });
    }
  }
  void backward(const float* theta, float* gradient, std::size_t samples) override {
    const auto count = static_cast<float>(samples * in.plane());
    for (std::size_t c = 0; c < in.channels; ++c) {
      double scale = 0;
      double bias = 0;
      for_each_of(c, samples, [&](std::size_t i) {
        scale += dy[i] * normed[i];
        bias += dy[i];
      });
      const auto dscale = static_cast<float>(scale);
      const auto dbias = static_cast<float>(bias);
      gradient[c] += dscale;
      gradient[in.channels + c] += dbias;
      for_each_of(c, samples, [&](std::size_t i) {
        before->dy[i] += theta[c] * inverse[c] * (dy[i] - dbias / count - normed[i] * dscale / count);
      });
    }
  }
};

/// Adds the result of an earlier layer: every second pixel of it, and fewer channels, where that is larger.
struct AddShortcut final : Layer {
  Layer* from = nullptr;

  template <typename Body>
  void for_each_shared(std::size_t samples, Body&& body) const {
    const std::size_t step = from->out.height / out.height;
    const std::size_t skipped = (out.channels - from->out.channels) / 2;
    for (std::size_t n = 0; n < samples; ++n) {
      for (std::size_t c = 0; c < from->out.channels; ++c) {
        for (std::size_t p = 0; p < out.plane(); ++p) {
          const std::size_t row = p / out.width * step;
          body(n * out.size() + (c + skipped) * out.plane() + p,
               n * from->out.size() + (c * from->out.height + row) * from->out.width + p % out.width * step);
        }
      }
    }
  }
  void forward(const float*, std::size_t samples) override {
    std::copy_n(before->y.begin(), samples * out.size(), y.begin());
    for_each_shared(samples, [&](std::size_t own, std::size_t other) { y[own] += from->y[other]; });
  }
  void backward(const float*, float*, std::size_t samples) override {
    for (std::size_t i = 0; i < samples * out.size(); ++i) before->dy[i] += dy[i];
    for_each_shared(samples, [&](std::size_t own, std::size_t other) { from->dy[other] += dy[own]; });
  }
};

struct PlaneMean final : Layer {
  void forward(const float*, std::size_t samples) override {
    for (std::size_t p = 0; p < samples * in.channels; ++p) {
      float sum = 0;
      for (std::size_t i = 0; i < in.plane(); ++i) sum += before->y[p * in.plane() + i];
      y[p] = sum / static_cast<float>(in.plane());
    }
  }
  void backward(const float*, float*, std::size_t samples) override {
    for (std::size_t i = 0; i < samples * in.size(); ++i) {
      before->dy[i] += dy[i / in.plane()] / static_cast<float>(in.plane());
    }
  }
};

/// Mean cross-entropy behind a softmax; `dy` becomes its gradient.
float cross_entropy(const Floats& y, Floats& dy, std::span<const std::int64_t> labels, std::size_t classes) {
  double loss = 0;
  const auto samples = static_cast<float>(labels.size());
  for (std::size_t n = 0; n < labels.size(); ++n) {
    const float* logits = y.data() + n * classes;
    const float most = *std::max_element(logits, logits + classes);
    float total = 0;
    for (std::size_t c = 0; c < classes; ++c) total += std::exp(logits[c] - most);
    const auto label = static_cast<std::size_t>(labels[n]);
    loss += std::log(total) + most - logits[label];
    for (std::size_t c = 0; c < classes; ++c) {
      dy[n * classes + c] = (std::exp(logits[c] - most) / total - (c == label ? 1.0F : 0.0F)) / samples;
    }
  }
  return static_cast<float>(loss / samples);
}

}  // namespace

struct PlainNetwork::Layers {
  std::vector<std::unique_ptr<Layer>> all;

  explicit Layers(Extent input) {
    auto first = std::make_unique<Input>();
    first->out = input;
    all.push_back(std::move(first));
  }
  [[nodiscard]] Layer* last() const { return all.back().get(); }

  template <typename Kind>
  Kind& add(Extent out) {
    auto layer = std::make_unique<Kind>();
    layer->before = last();
    layer->in = last()->out;
    layer->out = out;
    Kind& added = *layer;
    all.push_back(std::move(layer));
    return added;
  }
  template <typename Kind>
  Kind& add() {
    return add<Kind>(last()->out);
  }
  void conv(std::size_t channels, std::size_t stride, std::size_t pad, bool biased) {
    const Extent in = last()->out;
    Conv& layer =
        add<Conv>({channels, (in.height + 2 * pad - 3) / stride + 1, (in.width + 2 * pad - 3) / stride + 1});
    layer.stride = stride;
    layer.pad = pad;
    layer.biased = biased;
  }
  void pool() {
    const Extent in = last()->out;
    add<MaxPool>({in.channels, in.height / 2, in.width / 2});
  }
  void residual_block(std::size_t channels, std::size_t stride) {
    Layer* shortcut = last();
    conv(channels, stride, 1, false);
    add<BatchNorm>();
    add<Relu>();
    conv(channels, 1, 1, false);
    add<BatchNorm>();
    add<AddShortcut>().from = shortcut;
    add<Relu>();
  }
};

PlainNetwork::PlainNetwork(std::unique_ptr<Layers> layers) : layers_(std::move(layers)) {}
PlainNetwork::PlainNetwork(PlainNetwork&&) noexcept = default;
PlainNetwork& PlainNetwork::operator=(PlainNetwork&&) noexcept = default;
PlainNetwork::~PlainNetwork() = default;

PlainNetwork PlainNetwork::cnn() {
  auto n = std::make_unique<Layers>(Extent{1, 28, 28});
  for (const std::size_t channels : {30, 50}) {
    n->conv(channels, 1, 0, true);
    n->add<Relu>();
    n->pool();
  }
  n->add<Dense>({100, 1, 1});
  n->add<Relu>();
  n->add<Dense>({10, 1, 1});
  return PlainNetwork(std::move(n));
}

PlainNetwork PlainNetwork::resnet20() {
  auto n = std::make_unique<Layers>(Extent{3, 32, 32});
  n->conv(16, 1, 1, false);
  n->add<BatchNorm>();
  n->add<Relu>();
  for (const std::size_t channels : {16, 32, 64}) {
    for (std::size_t index = 0; index < 3; ++index)
      n->residual_block(channels, channels > 16 && index == 0 ? 2 : 1);
  }
  n->add<PlaneMean>({64, 1, 1});
  n->add<Dense>({10, 1, 1});
  return PlainNetwork(std::move(n));
}

std::size_t PlainNetwork::dimension() const {
  std::size_t total = 0;
  for (const auto& layer : layers_->all) total += layer->parameters();
  return total;
}

std::size_t PlainNetwork::input_size() const {
  return layers_->all.front()->out.size();
}

float PlainNetwork::gradient(std::span<const float> theta, std::span<const float> features,
                             std::span<const std::int64_t> labels, std::span<float> gradient) {
  const auto& all = layers_->all;
  const std::size_t samples = labels.size();
  for (const auto& layer : all) {
    layer->y.resize(samples * layer->out.size());
    layer->dy.assign(samples * layer->out.size(), 0.0F);
  }
  std::copy(features.begin(), features.end(), all.front()->y.begin());
  std::size_t at = 0;
  for (const auto& layer : all) {
    layer->forward(theta.data() + at, samples);
    at += layer->parameters();
  }
  Layer& last = *all.back();
  const float loss = cross_entropy(last.y, last.dy, labels, last.out.size());
  std::fill(gradient.begin(), gradient.end(), 0.0F);
  for (auto layer = all.rbegin(); layer != all.rend(); ++layer) {
    at -= (*layer)->parameters();
    (*layer)->backward(theta.data() + at, gradient.data() + at, samples);
  }
  return loss;
}

}  // namespace aflguard::bench
