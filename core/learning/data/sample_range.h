#pragma once

#include <cstddef>
#include <limits>
#include <string_view>

#include "core/base/result.h"

namespace aflguard {

/// A part of the samples of a file: from `first` (counted from 0) on, `count` of them; all by default.
struct SampleRange {
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  std::size_t first = 0;
  std::size_t count = kAll;

  /// The same range with its count filled in; kInvalidInput, naming `file`, when it reaches over the file's
  /// `samples` or leaves none.
  [[nodiscard]] Result<SampleRange> within(std::size_t samples, std::string_view file) const;

  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

}  // namespace aflguard
