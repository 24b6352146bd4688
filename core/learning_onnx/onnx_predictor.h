#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/learning/model_description.h"
#include "core/learning_onnx/onnx_runtime.h"

namespace aflguard {

/// Runs an exported model: a file that takes x and gives logits. Not thread-safe.
class OnnxPredictor final {
 public:
  /// `file`: the bytes of the ONNX file; `model`: what it must be. kCorrupt when the runtime refuses it.
  [[nodiscard]] static Result<OnnxPredictor> create(std::shared_ptr<const OnnxRuntime> runtime,
                                                    std::span<const std::byte> file,
                                                    const ModelDescription& model, int threads = 1);
  OnnxPredictor(OnnxPredictor&&) noexcept;
  OnnxPredictor& operator=(OnnxPredictor&&) = delete;
  OnnxPredictor(const OnnxPredictor&) = delete;
  ~OnnxPredictor();

  /// Writes `count` * output_size() floats.
  [[nodiscard]] Status predict(std::span<const float> features, std::size_t count, std::span<float> outputs);

 private:
  struct Session;
  explicit OnnxPredictor(std::unique_ptr<Session> session);
  std::unique_ptr<Session> session_;
};

}  // namespace aflguard
