#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "models/build_package.h"
#include "models/import/import_model.h"
#include "models/zoo/zoo.h"

namespace aflguard::models {

/// A model package as a user asks for it: out of the zoo, or out of an ONNX file.
struct PackageRequest {
  std::string zoo = {};             ///< a model of the zoo; empty: `onnx`
  ZooOptions zoo_options = {};      ///< with `zoo` only
  std::filesystem::path onnx = {};  ///< a forward model
  ImportOptions import = {};        ///< with `onnx` only
  /// Needed with `onnx`. A model of the zoo has its own: another one is refused.
  std::optional<Loss> loss = {};
  std::string name = {};  ///< in the manifest; empty: the zoo's, or that of the file
  OpsFlavor ops = OpsFlavor::kFused;
  NormStatistics evaluation = NormStatistics::kBatch;
  /// Adds what depends on the model's shapes, e.g. class names and scaling; may be empty.
  std::function<Status(const ModelDescription& shapes, PackageOptions& options)> add_facts = {};
};

/// The package in memory. kInvalidInput when the request asks for what does not go together; else errors as
/// of build_zoo_model(), read_onnx(), import_model() and build_package(), which name the ONNX file.
[[nodiscard]] Result<BuiltPackage> make_package(const PackageRequest& request);

}  // namespace aflguard::models
