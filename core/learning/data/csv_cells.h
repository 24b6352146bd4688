#pragma once

#include <string_view>

#include "core/base/result.h"

namespace aflguard {

enum class DecimalMark : std::uint8_t {
  kDetect,  ///< a point where fields are separated by commas; else what the first number with a mark has
  kPoint,
  kComma,
};

/// True for what tables write where there is no value: nothing, NA, N/A, NaN, null, none, - or ?, in capitals
/// or not.
[[nodiscard]] bool is_missing_cell(std::string_view cell);
/// True for a date, a time of day, or both: 2026-11-18T07:30:00Z, 18.11.2026 07:30, 11/18/2026, 07:30:15.
[[nodiscard]] bool is_time_cell(std::string_view cell);

/// Reads the numbers of one table, which all have the same decimal mark.
class CsvNumbers final {
 public:
  CsvNumbers(DecimalMark mark, char delimiter);

  /// A finite number. The first one with a mark decides for the table, where nothing else did.
  [[nodiscard]] Result<float> read(std::string_view cell);
  [[nodiscard]] DecimalMark mark() const { return mark_; }

 private:
  DecimalMark mark_;
};

}  // namespace aflguard
