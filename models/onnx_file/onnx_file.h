#pragma once

#include <filesystem>
#include <string>

#include "core/base/result.h"
#include "models/onnx_file/onnx_model.h"

namespace aflguard::models {

// The one place that knows ONNX's file format (protobuf).

/// kCorrupt when the bytes are not an ONNX model; kUnsupported, naming the thing, for what we never read:
/// weights in other files, sparse or quantised weights, functions inside the model.
[[nodiscard]] Result<OnnxModel> parse_onnx(const std::string& bytes);
[[nodiscard]] Result<OnnxModel> read_onnx(const std::filesystem::path& path);

/// The graph as the bytes of a .onnx file of opset kGraphOpset. Inputs and outputs carry their types and
/// shapes; the batch is a named dimension. kInternal when ONNX's own checker refuses the result.
[[nodiscard]] Result<std::string> write_onnx(const Graph& graph, const std::string& name);

}  // namespace aflguard::models
