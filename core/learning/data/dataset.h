#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/batch.h"

namespace aflguard {

/// Labelled samples in memory. Pixels stay bytes (a quarter of the memory of floats) and become floats,
/// divided by 255, only when a batch is gathered.
struct Dataset {
  std::string name;
  std::vector<std::size_t> sample_shape;                                 ///< e.g. {1, 28, 28} or {561}
  std::variant<std::vector<std::uint8_t>, std::vector<float>> features;  ///< size() * sample_size()
  std::vector<std::int64_t> labels;    ///< classification: one class per sample
  std::vector<float> values;           ///< regression: one value per sample
  std::vector<std::int64_t> subjects;  ///< who produced each sample; may be empty
  std::size_t classes = 0;             ///< 0 for regression
  std::size_t left_out = 0;            ///< rows of its table that were left out because a cell had no value

  [[nodiscard]] std::size_t size() const { return classes > 0 ? labels.size() : values.size(); }
  [[nodiscard]] std::size_t sample_size() const;
  [[nodiscard]] bool regression() const { return classes == 0; }

  /// Sizes agree, labels are classes, values and features are finite. Readers call it before they return.
  [[nodiscard]] Status validate() const;

  /// Writes the sample's features as floats into `out` (sample_size() of them).
  void copy_features(std::size_t index, std::span<float> out) const;

  /// The samples at `indices`, in that order.
  [[nodiscard]] Dataset select(std::span<const std::size_t> indices) const;
};

/// Training and test part of one data set.
struct DatasetSplit {
  Dataset train;
  Dataset test;
};

/// Owns the memory of one mini-batch and reuses it from draw to draw.
class BatchBuffer final {
 public:
  /// The samples at `indices` of `data`; the returned view lives until the next call.
  [[nodiscard]] Batch gather(const Dataset& data, std::span<const std::size_t> indices);

 private:
  std::vector<float> features_;
  std::vector<std::int64_t> labels_;
  std::vector<float> values_;
};

}  // namespace aflguard
