#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/model_description.h"

namespace aflguard {

/// A model package in memory: what `aflguard model build` writes and a device loads.
/// On disk it is a folder: manifest.json, train.onnx, eval.onnx, and where present train_fused.onnx,
/// inference.onnx, initial.npy, calibration.npy. The manifest carries the SHA-256 of every other file. Graphs
/// hold no weights.
struct ModelPackage {
  ModelDescription description;
  std::string train_graph;  ///< theta, x, y -> loss, gradient; standard ONNX operators only
  /// The same function with this project's operators, and with one input theta/NAME and one output
  /// gradient/NAME per parameter, so that a caller can pass views into theta instead of copies; may be empty.
  std::string fused_train_graph;
  std::string eval_graph;  ///< theta, x -> logits [, statistics of the batch]
  /// PARAMETER..., [statistics,] x -> logits: the same prediction for a sample alone and in a batch; empty in
  /// packages that an older version built.
  std::string inference_graph;
  /// Samples, features only, on which statistics of normalisations are measured, wherever this model is
  /// exported or evaluated; may be empty.
  std::vector<float> calibration;
  std::vector<float> initial;  ///< first theta of parameters with Initializer::kStored; may be empty
};

/// Writes the whole folder or nothing. kInvalidInput when `folder` exists and is not empty, unless `replace`
/// is set and the folder is a model package.
[[nodiscard]] Status write_model_package(const ModelPackage& package, const std::filesystem::path& folder,
                                         bool replace = false);

/// kNotFound without a manifest; kCorrupt, naming the file, when one is missing, truncated or changed.
[[nodiscard]] Result<ModelPackage> read_model_package(const std::filesystem::path& folder);

/// The first theta: parameters drawn from `seed` as the manifest says, stored ones copied.
[[nodiscard]] Result<std::vector<float>> initial_theta(const ModelPackage& package, std::uint64_t seed);

}  // namespace aflguard
