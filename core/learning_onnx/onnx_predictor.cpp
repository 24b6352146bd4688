#include "core/learning_onnx/onnx_predictor.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/learning_onnx/onnx_api.h"

namespace aflguard {
namespace {

std::vector<std::int64_t> with_batch(std::size_t count, const std::vector<std::size_t>& sample) {
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(count)};
  for (const std::size_t extent : sample) shape.push_back(static_cast<std::int64_t>(extent));
  return shape;
}

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

struct OnnxPredictor::Session {
  std::shared_ptr<const OnnxRuntime> runtime;
  ModelDescription model;
  Ort::Session session{nullptr};
};

OnnxPredictor::OnnxPredictor(std::unique_ptr<Session> session) : session_(std::move(session)) {}
OnnxPredictor::OnnxPredictor(OnnxPredictor&&) noexcept = default;
OnnxPredictor::~OnnxPredictor() = default;

Result<OnnxPredictor> OnnxPredictor::create(std::shared_ptr<const OnnxRuntime> runtime,
                                            std::span<const std::byte> file, const ModelDescription& model,
                                            int threads) {
  try {
    Ort::SessionOptions options;
    options.SetIntraOpNumThreads(threads);
    options.SetInterOpNumThreads(1);
    options.AddConfigEntry("session.intra_op.allow_spinning", "0");
    options.AddConfigEntry("optimization.disable_specified_optimizers",
                           "Pad_Fusion");  // see onnx_trainer.cpp
    auto session = std::make_unique<Session>();
    session->model = model;
    session->session = Ort::Session(runtime->internals().environment, file.data(), file.size(), options);
    session->runtime = std::move(runtime);
    return OnnxPredictor(std::move(session));
  } catch (const Ort::Exception& problem) {
    return corrupt("ONNX Runtime refused the exported model: " + in_one_line(problem.what()));
  }
}

Status OnnxPredictor::predict(std::span<const float> features, std::size_t count, std::span<float> outputs) {
  const ModelDescription& model = session_->model;
  if (features.size() != count * model.input_size() || outputs.size() != count * model.output_size()) {
    return invalid_input(std::to_string(features.size()) + " features for " + std::to_string(count) +
                         " samples of " + std::to_string(model.input_size()));
  }
  if (count == 0) return {};
  TRY_STATUS(check_input_ids(model, features, "x"));
  try {
    const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
    const auto x_shape = with_batch(count, model.input_shape);
    const auto y_shape = with_batch(count, model.output_shape);
    // ONNX Runtime only reads inputs; its API has no const tensors.
    std::vector<std::int64_t> ids;
    if (model.input_type == InputType::kInt64) ids.assign(features.begin(), features.end());
    const std::array inputs = {
        model.input_type == InputType::kInt64
            ? Ort::Value::CreateTensor<std::int64_t>(memory, ids.data(), ids.size(), x_shape.data(),
                                                     x_shape.size())
            : Ort::Value::CreateTensor<float>(memory, const_cast<float*>(features.data()), features.size(),
                                              x_shape.data(), x_shape.size())};
    std::array results = {Ort::Value::CreateTensor<float>(memory, outputs.data(), outputs.size(),
                                                          y_shape.data(), y_shape.size())};
    static constexpr const char* kInputs[] = {"x"};
    static constexpr const char* kOutputs[] = {"logits"};
    session_->session.Run(Ort::RunOptions{nullptr}, kInputs, inputs.data(), 1, kOutputs, results.data(), 1);
    return {};
  } catch (const Ort::Exception& problem) {
    return internal_error("ONNX Runtime could not run the exported model: " + in_one_line(problem.what()));
  }
}

}  // namespace aflguard
