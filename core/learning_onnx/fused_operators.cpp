#include "core/learning_onnx/fused_operators.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <span>

#include "core/kernels/convolution.h"
#include "core/kernels/worker_threads.h"

namespace aflguard {
namespace {

using kernels::ConvShape;
using Dimensions = std::vector<std::int64_t>;

// ---- What every operator shares
// --------------------------------------------------------------------------------

Ort::Status refuse(const std::string& why) {
  return Ort::Status(why.c_str(), ORT_INVALID_GRAPH);
}

/// Runs body(); nothing may be thrown through ONNX Runtime's C interface.
template <typename Body>
OrtStatusPtr guarded(Body&& body) {
  try {
    return body().release();
  } catch (const std::exception& problem) {
    return Ort::Status(problem.what(), ORT_FAIL).release();
  }
}

struct Input {
  const float* data = nullptr;
  Dimensions shape;

  [[nodiscard]] std::size_t extent(std::size_t axis) const { return static_cast<std::size_t>(shape[axis]); }
};

Input float_input(const Ort::KernelContext& context, std::size_t index) {
  const auto value = context.GetInput(index);
  return {value.GetTensorData<float>(), value.GetTensorTypeAndShapeInfo().GetShape()};
}

float* float_output(Ort::KernelContext& context, std::size_t index, const Dimensions& shape) {
  return context.GetOutput(index, shape).GetTensorMutableData<float>();
}

/// Attributes are read once, when the session is made.
class Attributes {
 public:
  explicit Attributes(const OrtKernelInfo* info) : info_(info) {}

  [[nodiscard]] std::vector<std::size_t> sizes(const char* name, std::size_t count) const {
    const auto values = info_.GetAttributes<std::int64_t>(name);
    if (values.size() != count)
      throw std::invalid_argument(std::string(name) + " has a wrong number of entries");
    std::vector<std::size_t> result;
    for (const std::int64_t value : values) {
      if (value < 0 || value > 1 << 20) throw std::invalid_argument(std::string(name) + " is out of range");
      result.push_back(static_cast<std::size_t>(value));
    }
    return result;
  }
  [[nodiscard]] bool flag(const char* name) const { return info_.GetAttribute<std::int64_t>(name) != 0; }
  [[nodiscard]] float number(const char* name) const { return info_.GetAttribute<float>(name); }

 private:
  Ort::ConstKernelInfo info_;
};

/// What the operators of one session share.
struct Shared {
  kernels::WorkerThreads workers;
  kernels::Scratch scratch;

  [[nodiscard]] kernels::Workshop workshop() { return {workers, scratch}; }
};

/// One operator for ONNX Runtime: its signature from Kernel's constants, its work from Kernel::compute.
template <typename Kernel>
struct Operator final : Ort::CustomOpBase<Operator<Kernel>, Kernel, /*WithStatus=*/true> {
  explicit Operator(Shared& with) : shared(with) {}
  Shared& shared;

  OrtStatusPtr CreateKernelV2(const OrtApi&, const OrtKernelInfo* info, void** kernel) const {
    return guarded([&] {
      *kernel = std::make_unique<Kernel>(Attributes(info), shared).release();
      return Ort::Status();
    });
  }
  [[nodiscard]] const char* GetName() const { return Kernel::kName; }
  [[nodiscard]] std::size_t GetInputTypeCount() const { return Kernel::kInputs; }
  [[nodiscard]] std::size_t GetOutputTypeCount() const { return Kernel::kOutputs; }
  [[nodiscard]] ONNXTensorElementDataType GetInputType(std::size_t index) const {
    return index == Kernel::kByteInput ? ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8
                                       : ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
  [[nodiscard]] ONNXTensorElementDataType GetOutputType(std::size_t index) const {
    return index == Kernel::kByteOutput ? ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8
                                        : ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  }
  [[nodiscard]] OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(std::size_t index) const {
    return index < Kernel::kRequiredInputs ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
  [[nodiscard]] OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(std::size_t index) const {
    return index < Kernel::kRequiredOutputs ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
};

constexpr std::size_t kNone = SIZE_MAX;

/// Defaults for the signature constants that Operator reads.
struct KernelBase {
  static constexpr std::size_t kByteInput = kNone;
  static constexpr std::size_t kByteOutput = kNone;

  template <typename Self>
  static OrtStatusPtr run(Self& self, OrtKernelContext* raw) {
    return guarded([&] {
      Ort::KernelContext context(raw);
      return self.compute(context);
    });
  }
};

// ---- Convolutions
// ----------------------------------------------------------------------------------------------

/// Attributes of a convolution, and the convolution for the shapes seen last.
class ConvolutionForShape {
 public:
  ConvolutionForShape(const Attributes& attributes, bool pooled) : rectify_(attributes.flag("relu")) {
    const auto strides = attributes.sizes("strides", 2);
    const auto dilations = attributes.sizes("dilations", 2);
    const auto pads = attributes.sizes("pads", 4);
    const auto pool = pooled ? attributes.sizes("pool", 2) : std::vector<std::size_t>{1, 1};
    shape_.stride_h = strides[0], shape_.stride_w = strides[1];
    shape_.dilation_h = dilations[0], shape_.dilation_w = dilations[1];
    shape_.pad_top = pads[0], shape_.pad_left = pads[1], shape_.pad_bottom = pads[2],
    shape_.pad_right = pads[3];
    shape_.pool_h = pool[0], shape_.pool_w = pool[1];
  }

  [[nodiscard]] bool rectify() const { return rectify_; }

  /// Null when image and weights do not fit each other.
  [[nodiscard]] kernels::Convolution* get(const Input& x, const Input& w) {
    if (x.shape.size() != 4 || w.shape.size() != 4 || x.shape[1] != w.shape[1]) return nullptr;
    ConvShape shape = shape_;
    shape.in_channels = x.extent(1), shape.height = x.extent(2), shape.width = x.extent(3);
    shape.out_channels = w.extent(0), shape.kernel_h = w.extent(2), shape.kernel_w = w.extent(3);
    if (!shape.valid()) return nullptr;
    if (!convolution_ || !(convolution_->shape() == shape))
      convolution_.emplace(shape, kernels::best_kernels());
    return &*convolution_;
  }

 private:
  ConvShape shape_;
  bool rectify_;
  std::optional<kernels::Convolution> convolution_;
};

Dimensions output_shape(const kernels::Convolution& convolution, const Input& x) {
  const ConvShape& s = convolution.shape();
  return {x.shape[0], static_cast<std::int64_t>(s.out_channels), static_cast<std::int64_t>(s.out_h()),
          static_cast<std::int64_t>(s.out_w())};
}

template <bool Pooled>
class ConvKernel : public KernelBase {
 public:
  static constexpr const char* kName = Pooled ? "ConvPool" : "Conv";
  static constexpr std::size_t kInputs = 3, kRequiredInputs = 2;
  static constexpr std::size_t kOutputs = Pooled ? 2 : 1, kRequiredOutputs = kOutputs;
  static constexpr std::size_t kByteOutput = Pooled ? 1 : kNone;

  ConvKernel(const Attributes& attributes, Shared& shared)
      : convolution_(attributes, Pooled), shared_(shared) {}

  Ort::Status compute(Ort::KernelContext& context) {
    const Input x = float_input(context, 0);
    const Input w = float_input(context, 1);
    kernels::Convolution* convolution = convolution_.get(x, w);
    if (convolution == nullptr)
      return refuse(std::string(kName) + ": image and weights do not fit each other");
    const float* bias = nullptr;
    if (context.GetInputCount() > 2) {
      const Input b = float_input(context, 2);
      if (b.shape != Dimensions{w.shape[0]})
        return refuse(std::string(kName) + ": the bias has a wrong shape");
      bias = b.data;
    }
    float* y = float_output(context, 0, output_shape(*convolution, x));
    std::uint8_t* choices = nullptr;
    if constexpr (Pooled) {
      const auto size = static_cast<std::int64_t>(convolution->choice_size());
      choices =
          context.GetOutput(1, Dimensions{x.shape[0], size}).template GetTensorMutableData<std::uint8_t>();
    }
    convolution->forward({x.extent(0), x.data, w.data, bias, convolution_.rectify(), y, choices},
                         shared_.workshop());
    return {};
  }
  OrtStatusPtr ComputeV2(OrtKernelContext* context) { return run(*this, context); }

 private:
  ConvolutionForShape convolution_;
  Shared& shared_;
};

template <bool Pooled>
class ConvGradKernel : public KernelBase {
 public:
  static constexpr const char* kName = Pooled ? "ConvPoolGrad" : "ConvGrad";
  static constexpr std::size_t kInputs = 4, kRequiredInputs = Pooled ? 4 : 3;
  static constexpr std::size_t kOutputs = 3, kRequiredOutputs = 2;
  static constexpr std::size_t kByteInput = Pooled ? 3 : kNone;

  ConvGradKernel(const Attributes& attributes, Shared& shared)
      : convolution_(attributes, Pooled), shared_(shared) {}

  Ort::Status compute(Ort::KernelContext& context) {
    const Input dy = float_input(context, 0);
    const Input x = float_input(context, 1);
    const Input w = float_input(context, 2);
    kernels::Convolution* convolution = convolution_.get(x, w);
    if (convolution == nullptr || dy.shape != output_shape(*convolution, x)) {
      return refuse(std::string(kName) + ": gradient, image and weights do not fit each other");
    }
    kernels::Convolution::Backward task{x.extent(0), x.data,  w.data,  dy.data, nullptr,
                                        nullptr,     nullptr, nullptr, nullptr};
    if constexpr (Pooled) {
      const auto value = context.GetInput(3);
      if (value.GetTensorTypeAndShapeInfo().GetElementCount() != task.samples * convolution->choice_size()) {
        return refuse("ConvPoolGrad: the choices are of another convolution");
      }
      task.choices = value.template GetTensorData<std::uint8_t>();
      if (!valid_choices(task, *convolution)) return refuse("ConvPoolGrad: a choice lies outside its window");
    } else if (convolution_.rectify()) {
      if (context.GetInputCount() < 4) return refuse("ConvGrad: with relu the result Y is needed");
      const Input y = float_input(context, 3);
      if (y.shape != dy.shape) return refuse("ConvGrad: Y and its gradient have different shapes");
      task.y = y.data;
    }
    task.dweights = float_output(context, 0, w.shape);
    task.dbias = float_output(context, 1, {w.shape[0]});
    if (context.GetOutputCount() > 2) task.dx = float_output(context, 2, x.shape);
    convolution->backward(task, shared_.workshop());
    return {};
  }
  OrtStatusPtr ComputeV2(OrtKernelContext* context) { return run(*this, context); }

 private:
  /// The kernels use choices as addresses; a graph may feed anything here.
  static bool valid_choices(const kernels::Convolution::Backward& task,
                            const kernels::Convolution& convolution) {
    const std::size_t count = task.samples * convolution.choice_size();
    const std::size_t window = convolution.shape().window();
    static_assert(kernels::kNoChoice == 255);  // the number before 0
    std::uint8_t largest = 0;                  // a maximum of bytes is what compilers do sixteen at a time
    for (std::size_t i = 0; i < count; ++i) {
      largest = std::max(largest, static_cast<std::uint8_t>(task.choices[i] + 1));
    }
    return largest <= window;
  }

  ConvolutionForShape convolution_;
  Shared& shared_;
};

// ---- Batch normalisation
// ---------------------------------------------------------------------------------------

struct ChannelLayout {
  std::size_t samples = 0, channels = 0, plane = 0;
};

std::optional<ChannelLayout> channel_layout(const Input& x) {
  if (x.shape.size() < 2) return std::nullopt;
  const auto plane =
      std::accumulate(x.shape.begin() + 2, x.shape.end(), std::int64_t{1}, std::multiplies<>());
  return ChannelLayout{x.extent(0), x.extent(1), static_cast<std::size_t>(plane)};
}

/// Channels are independent: every worker takes the next one.
template <typename Task>
void for_each_channel(kernels::Workers& workers, const Task& task, void (*kernel)(const Task&)) {
  const std::size_t pieces = workers.count() == 1 ? 1 : task.channels;
  kernels::for_each_item(workers, pieces, [&](std::size_t piece, std::size_t) {
    Task part = task;
    part.first_channel = task.channels * piece / pieces;
    part.end_channel = task.channels * (piece + 1) / pieces;
    kernel(part);
  });
}

class BatchNormKernel : public KernelBase {
 public:
  static constexpr const char* kName = "BatchNorm";
  static constexpr std::size_t kInputs = 4, kRequiredInputs = 3;
  static constexpr std::size_t kOutputs = 3, kRequiredOutputs = 3;

  BatchNormKernel(const Attributes& attributes, Shared& shared)
      : rectify_(attributes.flag("relu")), epsilon_(attributes.number("epsilon")), shared_(shared) {}

  Ort::Status compute(Ort::KernelContext& context) {
    const Input x = float_input(context, 0);
    const Input scale = float_input(context, 1);
    const Input bias = float_input(context, 2);
    const auto layout = channel_layout(x);
    if (!layout || scale.shape != Dimensions{x.shape[1]} || bias.shape != scale.shape) {
      return refuse("BatchNorm: scale and bias do not fit the input's channels");
    }
    const float* residual = nullptr;
    if (context.GetInputCount() > 3) {
      const Input r = float_input(context, 3);
      if (r.shape != x.shape) return refuse("BatchNorm: the residual has another shape than the input");
      residual = r.data;
    }
    const kernels::BatchNormForward task{layout->samples,
                                         layout->channels,
                                         layout->plane,
                                         0,
                                         layout->channels,
                                         x.data,
                                         scale.data,
                                         bias.data,
                                         residual,
                                         rectify_,
                                         epsilon_,
                                         float_output(context, 0, x.shape),
                                         float_output(context, 1, scale.shape),
                                         float_output(context, 2, scale.shape)};
    for_each_channel(shared_.workers, task, kernels::best_kernels().batch_norm_forward);
    return {};
  }
  OrtStatusPtr ComputeV2(OrtKernelContext* context) { return run(*this, context); }

 private:
  bool rectify_;
  float epsilon_;
  Shared& shared_;
};

class BatchNormGradKernel : public KernelBase {
 public:
  static constexpr const char* kName = "BatchNormGrad";
  static constexpr std::size_t kInputs = 6, kRequiredInputs = 5;
  static constexpr std::size_t kOutputs = 4, kRequiredOutputs = 3;

  BatchNormGradKernel(const Attributes&, Shared& shared) : shared_(shared) {}

  Ort::Status compute(Ort::KernelContext& context) {
    const Input dy = float_input(context, 0);
    const Input x = float_input(context, 1);
    const Input scale = float_input(context, 2);
    const Input mean = float_input(context, 3);
    const Input inverse_std = float_input(context, 4);
    const auto layout = channel_layout(x);
    if (!layout || dy.shape != x.shape || scale.shape != Dimensions{x.shape[1]} ||
        mean.shape != scale.shape || inverse_std.shape != scale.shape) {
      return refuse("BatchNormGrad: the inputs' shapes do not fit each other");
    }
    const float* y = nullptr;
    if (context.GetInputCount() > 5) {
      const Input result = float_input(context, 5);
      if (result.shape != x.shape) return refuse("BatchNormGrad: Y has another shape than X");
      y = result.data;
    }
    const kernels::BatchNormBackward task{
        layout->samples,
        layout->channels,
        layout->plane,
        0,
        layout->channels,
        dy.data,
        x.data,
        y,
        scale.data,
        mean.data,
        inverse_std.data,
        float_output(context, 0, x.shape),
        float_output(context, 1, scale.shape),
        float_output(context, 2, scale.shape),
        context.GetOutputCount() > 3 ? float_output(context, 3, x.shape) : nullptr};
    for_each_channel(shared_.workers, task, kernels::best_kernels().batch_norm_backward);
    return {};
  }
  OrtStatusPtr ComputeV2(OrtKernelContext* context) { return run(*this, context); }

 private:
  Shared& shared_;
};

}  // namespace

struct FusedOperators::Parts {
  explicit Parts(int threads) : shared{kernels::WorkerThreads(static_cast<std::size_t>(threads)), {}} {
    domain.Add(&conv);
    domain.Add(&conv_grad);
    domain.Add(&conv_pool);
    domain.Add(&conv_pool_grad);
    domain.Add(&batch_norm);
    domain.Add(&batch_norm_grad);
  }

  Shared shared;
  Operator<ConvKernel<false>> conv{shared};
  Operator<ConvGradKernel<false>> conv_grad{shared};
  Operator<ConvKernel<true>> conv_pool{shared};
  Operator<ConvGradKernel<true>> conv_pool_grad{shared};
  Operator<BatchNormKernel> batch_norm{shared};
  Operator<BatchNormGradKernel> batch_norm_grad{shared};
  Ort::CustomOpDomain domain{"aflguard"};
};

FusedOperators::FusedOperators(int threads) : parts_(std::make_unique<Parts>(threads)) {}
FusedOperators::~FusedOperators() = default;

const Ort::CustomOpDomain& FusedOperators::domain() const {
  return parts_->domain;
}

}  // namespace aflguard
