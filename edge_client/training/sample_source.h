#pragma once

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/learning/data/csv_follower.h"
#include "core/learning/data/dataset.h"

namespace aflguard::edge {

/// Where a device's samples come from.
class SampleSource {
 public:
  virtual ~SampleSource() = default;
  /// What there is to learn from now; lives until the next call. kUnavailable while there is nothing yet.
  [[nodiscard]] virtual Result<const Dataset*> samples() = 0;
};

/// Samples that were read once.
class FixedSamples final : public SampleSource {
 public:
  explicit FixedSamples(Dataset data) : data_(std::move(data)) {}
  [[nodiscard]] Result<const Dataset*> samples() override { return &data_; }

 private:
  Dataset data_;
};

/// The newest samples of a table that grows. Rows that are not samples are reported, not more than once per
/// call.
class GrowingSamples final : public SampleSource {
 public:
  GrowingSamples(CsvFollower follower, LogSink& log) : follower_(std::move(follower)), log_(log) {}
  [[nodiscard]] Result<const Dataset*> samples() override;

 private:
  CsvFollower follower_;
  LogSink& log_;
  std::size_t reported_ = 0;
};

}  // namespace aflguard::edge
