#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/base/result.h"

namespace aflguard {

/// The ONNX Runtime shared library, loaded at run time, and its environment. One per process, shared by
/// trainers.
///
/// Search order:
///   1. `library`, if given (and nothing else);
///   2. the file named by the environment variable AFLGUARD_ONNXRUNTIME, if set (and nothing else);
///   3. lib/aflguard/libonnxruntime.so.1 beside the program's bin folder (the private copy that packages
///   bring);
///   4. what the system's loader finds as libonnxruntime.so.1 or a versioned name of it.
/// Any release from 1.21 on works. Its telemetry is switched off before the library is loaded.
class OnnxRuntime final {
 public:
  /// kNotFound, naming every place tried; kUnsupported, naming the version found, when it is too old;
  /// kInvalidInput when AFLGUARD_KERNELS names no variant of the fused operators that this machine runs.
  [[nodiscard]] static Result<std::shared_ptr<OnnxRuntime>> load(const std::filesystem::path& library = {});
  ~OnnxRuntime();
  OnnxRuntime(const OnnxRuntime&) = delete;
  OnnxRuntime& operator=(const OnnxRuntime&) = delete;

  [[nodiscard]] const std::string& version() const;  ///< e.g. "1.23.2"
  [[nodiscard]] const std::string& path() const;     ///< the file it was loaded from

  struct Internals;  ///< for onnx_*.cpp only
  [[nodiscard]] const Internals& internals() const { return *internals_; }

 private:
  explicit OnnxRuntime(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace aflguard
