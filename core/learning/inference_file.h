#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/learning/model_package.h"

namespace aflguard {

/// An ONNX file as parts that stand one after the other, so that it need not be held a second time.
struct InferenceFile {
  InferenceFile() = default;
  InferenceFile(InferenceFile&&) = default;
  InferenceFile& operator=(InferenceFile&&) = default;
  InferenceFile(const InferenceFile&) = delete;  // the parts point into its own texts

  std::deque<std::string> own;                    ///< what does not lie in theta; never moved
  std::vector<std::span<const std::byte>> parts;  ///< into `own`, the package's graph, theta and statistics
  [[nodiscard]] std::size_t size() const;
};

/// What stands in the file for people and programs, beside the model: name and value.
using FileNotes = std::vector<std::pair<std::string, std::string>>;

/// The package's inference graph with the parameters `theta` inside, each under its own name, and statistics
/// of normalisations: an ONNX file that takes x and gives logits, for any runtime. Everything is borrowed by
/// the result. kInvalidInput when theta or the statistics have another length or are not finite, kUnsupported
/// when the package has no inference graph, kCorrupt when that is not one.
[[nodiscard]] Result<InferenceFile> make_inference_file(const ModelPackage& package,
                                                        std::span<const float> theta,
                                                        std::span<const float> statistics,
                                                        const FileNotes& notes = {});

/// The notes in an ONNX file's bytes, in their order. kCorrupt when it is cut off or not ONNX.
[[nodiscard]] Result<FileNotes> read_file_notes(std::span<const std::byte> file);

/// Notes that say which model this is: name, layout, classes; and where they are known fleet and version.
[[nodiscard]] FileNotes model_notes(const ModelDescription& model);

inline constexpr const char* kNoteVersion = "aflguard.version";
inline constexpr const char* kNoteFleet = "aflguard.fleet";
inline constexpr const char* kNoteLayout = "aflguard.layout";
/// The error of this version on the samples that the board held back, where it was measured.
inline constexpr const char* kNoteLocalError = "aflguard.local_error";

}  // namespace aflguard
