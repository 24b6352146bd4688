#include "core/learning_onnx/onnx_trainer.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>

#include "core/learning_onnx/fused_operators.h"
#include "core/learning_onnx/onnx_api.h"
#include "core/system/machine/process_memory.h"

namespace aflguard {
namespace {

/// `operators`: null for a graph of standard operators alone.
Ort::SessionOptions session_options(const FusedOperators* operators, const OnnxTrainerOptions& options) {
  Ort::SessionOptions session;
  session.SetIntraOpNumThreads(operators == nullptr ? options.threads : 1);
  session.SetInterOpNumThreads(1);
  session.SetExecutionMode(ExecutionMode::ORT_SEQUENTIAL);
  session.SetGraphOptimizationLevel(GraphOptimizationLevel::ORT_ENABLE_ALL);
  // Measured on the paper's CNN: without the memory pattern the peak is a fifth lower at the same speed.
  session.DisableMemPattern();
  session.AddConfigEntry("session.intra_op.allow_spinning", options.allow_spinning ? "1" : "0");
  session.AddConfigEntry("session.inter_op.allow_spinning", "0");
  // It moves a Pad node's extents into the pool behind it and then refuses them when they exceed the kernel.
  session.AddConfigEntry("optimization.disable_specified_optimizers", "Pad_Fusion");
  if (operators != nullptr) session.Add(operators->domain());
  if (!options.profile_prefix.empty()) session.EnableProfiling(options.profile_prefix.c_str());
  return session;
}

/// ONNX Runtime's messages span lines; ours are one.
std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::vector<std::int64_t> batched(std::size_t count, const std::vector<std::size_t>& sample_shape) {
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(count)};
  for (std::size_t extent : sample_shape) shape.push_back(static_cast<std::int64_t>(extent));
  return shape;
}

Error wrong_size(const char* what, std::size_t have, std::size_t want) {
  return invalid_input(std::string(what) + " has " + std::to_string(have) + " numbers, this model needs " +
                       std::to_string(want));
}

class OnnxTrainer final : public Trainer {
 public:
  OnnxTrainer(std::shared_ptr<const OnnxRuntime> runtime, ModelPackage package,
              const OnnxTrainerOptions& options)
      : runtime_(std::move(runtime)),
        description_(std::move(package.description)),
        fused_(options.graph != GraphChoice::kStandard && !package.fused_train_graph.empty()),
        train_graph_(fused_ ? std::move(package.fused_train_graph) : std::move(package.train_graph)),
        eval_graph_(std::move(package.eval_graph)),
        inference_graph_(std::move(package.inference_graph)),
        options_(options),
        memory_(Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault)) {
    if (fused_) {
      for (const Parameter& parameter : description_.parameters) {
        views_.push_back({"theta/" + parameter.name, "gradient/" + parameter.name, parameter.offset, {}});
        for (std::size_t extent : parameter.shape)
          views_.back().shape.push_back(static_cast<std::int64_t>(extent));
      }
    } else {
      const auto dimension = static_cast<std::int64_t>(description_.dimension());
      views_.push_back({"theta", "gradient", 0, {dimension}});
    }
  }

  [[nodiscard]] const ModelDescription& model() const override { return description_; }

  [[nodiscard]] Result<float> gradient(std::span<const float> theta, const Batch& batch,
                                       std::span<float> gradient) override {
    TRY_STATUS(check_batch(theta, batch, gradient));
    try {
      TRY_STATUS(open(train_session_, train_graph_, fused_ ? &fused_operators() : nullptr));
      float loss = 0;
      std::vector<const char*> input_names;
      std::vector<const char*> output_names = {"loss"};
      std::vector<Ort::Value> inputs;
      std::vector<Ort::Value> outputs;
      outputs.push_back(Ort::Value::CreateTensor<float>(memory_, &loss, 1, nullptr, 0));
      for (const View& view : views_) {
        const std::size_t size = view.size();
        input_names.push_back(view.input.c_str());
        inputs.push_back(float_tensor(theta.subspan(view.offset, size), view.shape));
        output_names.push_back(view.output.c_str());
        outputs.push_back(Ort::Value::CreateTensor<float>(memory_, gradient.data() + view.offset, size,
                                                          view.shape.data(), view.shape.size()));
      }
      input_names.insert(input_names.end(), {"x", "y"});
      inputs.push_back(samples(batch.features, batch.size));
      inputs.push_back(target(batch));
      train_session_->Run(Ort::RunOptions{nullptr}, input_names.data(), inputs.data(), inputs.size(),
                          output_names.data(), outputs.data(), outputs.size());
      return loss;
    } catch (const Ort::Exception& problem) {
      return internal_error("ONNX Runtime could not run the training graph: " + one_line(problem.what()));
    }
  }

  [[nodiscard]] Status predict(std::span<const float> theta, std::span<const float> features,
                               std::size_t count, std::span<float> outputs) override {
    TRY_STATUS(check_prediction(theta, features, count, outputs));
    TRY_STATUS(check_input_ids(description_, features, "x"));
    return count == 0 ? Status{}
                      : evaluate(theta, features, count, "logits", outputs,
                                 batched(count, description_.output_shape));
  }

  [[nodiscard]] Status measure_statistics(std::span<const float> theta, std::span<const float> features,
                                          std::size_t count, std::span<float> statistics) override {
    if (theta.size() != description_.dimension())
      return wrong_size("theta", theta.size(), description_.dimension());
    if (features.size() != count * description_.input_size()) {
      return wrong_size("x", features.size(), count * description_.input_size());
    }
    if (statistics.size() != description_.statistics) {
      return wrong_size("the buffer of statistics", statistics.size(), description_.statistics);
    }
    if (count == 0) return invalid_input("the batch is empty; at least one sample is needed");
    if (statistics.empty()) return {};
    return evaluate(theta, features, count, "statistics", statistics,
                    {static_cast<std::int64_t>(statistics.size())});
  }

  [[nodiscard]] Status predict_with(std::span<const float> theta, std::span<const float> statistics,
                                    std::span<const float> features, std::size_t count,
                                    std::span<float> outputs) override {
    TRY_STATUS(check_prediction(theta, features, count, outputs));
    if (statistics.size() != description_.statistics) {
      return wrong_size("statistics", statistics.size(), description_.statistics);
    }
    if (count == 0) return {};
    TRY_STATUS(check_input_ids(description_, features, "x"));
    try {
      TRY_STATUS(open_inference());
      std::vector<const char*> names;
      for (const std::string& name : inference_inputs_) names.push_back(name.c_str());
      std::vector<Ort::Value> inputs;
      for (const Parameter& parameter : description_.parameters) {
        const std::vector<std::int64_t> shape(parameter.shape.begin(), parameter.shape.end());
        inputs.push_back(float_tensor(theta.subspan(parameter.offset, parameter.size()), shape));
      }
      if (!statistics.empty()) {
        inputs.push_back(float_tensor(statistics, {static_cast<std::int64_t>(statistics.size())}));
      }
      inputs.push_back(samples(features, count));
      const auto shape = batched(count, description_.output_shape);
      std::array results = {Ort::Value::CreateTensor<float>(memory_, outputs.data(), outputs.size(),
                                                            shape.data(), shape.size())};
      static constexpr const char* kOutputs[] = {"logits"};
      inference_session_->Run(Ort::RunOptions{nullptr}, names.data(), inputs.data(), inputs.size(), kOutputs,
                              results.data(), 1);
      return {};
    } catch (const Ort::Exception& problem) {
      return internal_error("ONNX Runtime could not run the inference graph: " + one_line(problem.what()));
    }
  }

 private:
  /// A part of theta and of its gradient that the training graph takes and gives as one tensor. The tensors
  /// are windows into the caller's vectors: nothing is copied on the way in or out.
  struct View {
    std::string input;
    std::string output;
    std::size_t offset;
    std::vector<std::int64_t> shape;

    [[nodiscard]] std::size_t size() const {
      return static_cast<std::size_t>(
          std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    }
  };

  [[nodiscard]] Status check_prediction(std::span<const float> theta, std::span<const float> features,
                                        std::size_t count, std::span<const float> outputs) const {
    if (theta.size() != description_.dimension())
      return wrong_size("theta", theta.size(), description_.dimension());
    if (features.size() != count * description_.input_size()) {
      return wrong_size("x", features.size(), count * description_.input_size());
    }
    if (outputs.size() != count * description_.output_size()) {
      return wrong_size("the output buffer", outputs.size(), count * description_.output_size());
    }
    return {};
  }

  /// One output of the evaluation graph, into `result` of that shape.
  [[nodiscard]] Status evaluate(std::span<const float> theta, std::span<const float> features,
                                std::size_t count, const char* output, std::span<float> result,
                                const std::vector<std::int64_t>& shape) {
    try {
      TRY_STATUS(open(eval_session_, eval_graph_, nullptr));
      const auto d = static_cast<std::int64_t>(theta.size());
      const std::array inputs = {float_tensor(theta, {d}), samples(features, count)};
      std::array results = {
          Ort::Value::CreateTensor<float>(memory_, result.data(), result.size(), shape.data(), shape.size())};
      static constexpr const char* kInputs[] = {"theta", "x"};
      eval_session_->Run(Ort::RunOptions{nullptr}, kInputs, inputs.data(), 2, &output, results.data(), 1);
      return {};
    } catch (const Ort::Exception& problem) {
      return internal_error("ONNX Runtime could not run the evaluation graph: " + one_line(problem.what()));
    }
  }

  [[nodiscard]] Status open_inference() {
    if (inference_session_) return {};
    if (inference_graph_.empty()) {
      return unsupported("the package of model '" + description_.name +
                         "' has no inference graph; build it again with: aflguard model build");
    }
    TRY_STATUS(open(inference_session_, inference_graph_, nullptr));
    const Ort::AllocatorWithDefaultOptions allocator;
    inference_inputs_.clear();
    for (std::size_t i = 0; i < inference_session_->GetInputCount(); ++i) {
      inference_inputs_.emplace_back(inference_session_->GetInputNameAllocated(i, allocator).get());
    }
    const std::size_t wanted = description_.parameters.size() + (description_.statistics > 0 ? 2 : 1);
    if (inference_inputs_.size() == wanted) return {};
    inference_session_.reset();
    return corrupt("the inference graph of model '" + description_.name + "' has " +
                   std::to_string(inference_inputs_.size()) + " inputs, expected " + std::to_string(wanted) +
                   "; build the package again");
  }

  [[nodiscard]] Status check_batch(std::span<const float> theta, const Batch& batch,
                                   std::span<const float> gradient) const {
    const std::size_t d = description_.dimension();
    if (theta.size() != d) return wrong_size("theta", theta.size(), d);
    if (gradient.size() != d) return wrong_size("the gradient buffer", gradient.size(), d);
    if (batch.size == 0) return invalid_input("the batch is empty; at least one sample is needed");
    const std::size_t wanted = batch.size * description_.input_size();
    if (batch.features.size() != wanted) return wrong_size("x", batch.features.size(), wanted);
    TRY_STATUS(check_input_ids(description_, batch.features, "x"));
    if (description_.loss == Loss::kMeanSquaredError) {
      const std::size_t values = batch.size * description_.output_size();
      return batch.values.size() == values ? Status{} : wrong_size("y", batch.values.size(), values);
    }
    if (batch.labels.size() != batch.size) return wrong_size("y", batch.labels.size(), batch.size);
    const auto classes = static_cast<std::int64_t>(description_.classes());
    for (std::size_t i = 0; i < batch.size; ++i) {
      if (batch.labels[i] < 0 || batch.labels[i] >= classes) {
        return invalid_input("y[" + std::to_string(i) + "] is " + std::to_string(batch.labels[i]) +
                             ", this model has the classes 0 to " + std::to_string(classes - 1));
      }
    }
    return {};
  }

  [[nodiscard]] Ort::Value float_tensor(std::span<const float> values,
                                        const std::vector<std::int64_t>& shape) const {
    // ONNX Runtime only reads inputs; its API has no const tensors.
    return Ort::Value::CreateTensor<float>(memory_, const_cast<float*>(values.data()), values.size(),
                                           shape.data(), shape.size());
  }

  /// x as the graph takes it: the samples themselves, or the ids that they hold.
  [[nodiscard]] Ort::Value samples(std::span<const float> features, std::size_t count) {
    const auto shape = batched(count, description_.input_shape);
    if (description_.input_type == InputType::kFloat32) return float_tensor(features, shape);
    ids_.assign(features.begin(), features.end());
    return Ort::Value::CreateTensor<std::int64_t>(memory_, ids_.data(), ids_.size(), shape.data(),
                                                  shape.size());
  }

  [[nodiscard]] Ort::Value target(const Batch& batch) const {
    if (description_.loss == Loss::kMeanSquaredError) {
      return float_tensor(batch.values, batched(batch.size, description_.output_shape));
    }
    const auto size = static_cast<std::int64_t>(batch.size);
    return Ort::Value::CreateTensor<std::int64_t>(memory_, const_cast<std::int64_t*>(batch.labels.data()),
                                                  batch.labels.size(), &size, 1);
  }

  /// Made with the session, so that a trainer that only evaluates starts no threads.
  [[nodiscard]] const FusedOperators& fused_operators() {
    if (!fused_operators_) fused_operators_.emplace(options_.threads);
    return *fused_operators_;
  }

  /// Makes the session on first use and lets go of the graph's bytes.
  [[nodiscard]] Status open(std::optional<Ort::Session>& session, std::string& graph,
                            const FusedOperators* operators) {
    if (session) return {};
    // ONNX Runtime keeps the domains of custom operators in one table of the process, and looks into it and
    // adds to it without a lock: sessions that begin at the same moment would refuse each other's domain.
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    if (options_.release_file_pages) (void)release_file_pages();
    try {
      session.emplace(runtime_->internals().environment, graph.data(), graph.size(),
                      session_options(operators, options_));
    } catch (const Ort::Exception& problem) {
      return corrupt("ONNX Runtime " + runtime_->version() + " refused a graph of model '" +
                     description_.name + "': " + one_line(problem.what()));
    }
    graph.clear();
    graph.shrink_to_fit();
    if (options_.release_file_pages) (void)release_file_pages();
    return {};
  }

  std::shared_ptr<const OnnxRuntime> runtime_;
  ModelDescription description_;
  bool fused_;
  std::vector<View> views_;
  std::string train_graph_;
  std::string eval_graph_;
  std::string inference_graph_;
  OnnxTrainerOptions options_;
  std::optional<FusedOperators> fused_operators_;  // before the sessions, which it must outlive
  Ort::MemoryInfo memory_;
  std::vector<std::int64_t> ids_;  ///< of the samples that the graph reads now
  std::optional<Ort::Session> train_session_;
  std::optional<Ort::Session> eval_session_;
  std::optional<Ort::Session> inference_session_;
  std::vector<std::string> inference_inputs_;  ///< parameters in their order, then statistics, x
};

}  // namespace

Result<std::unique_ptr<Trainer>> make_onnx_trainer(std::shared_ptr<const OnnxRuntime> runtime,
                                                   ModelPackage package, const OnnxTrainerOptions& options) {
  if (options.threads < 1) {
    return invalid_input("threads is " + std::to_string(options.threads) + ", at least 1 is needed");
  }
  if (options.graph == GraphChoice::kFused && package.fused_train_graph.empty()) {
    return not_found("model '" + package.description.name +
                     "' has no fused training graph; build it with: aflguard model build --ops fused");
  }
  return std::unique_ptr<Trainer>(
      std::make_unique<OnnxTrainer>(std::move(runtime), std::move(package), options));
}

}  // namespace aflguard
