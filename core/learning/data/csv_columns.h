#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/csv.h"

namespace aflguard {

/// What the columns of a table are.
struct CsvColumns {
  std::size_t count = 0;                ///< of a row
  std::optional<std::size_t> label;     ///< nothing: rows without one, for predictions
  std::vector<std::size_t> features;    ///< in the order in which a sample has them
  std::vector<std::size_t> times;       ///< left out because they hold times
  std::vector<std::string> names = {};  ///< the header; empty without one

  /// Its name in the header, or its number from 0.
  [[nodiscard]] std::string name(std::size_t column) const;
};

/// Chooses label and features among the fields of `first`, the first row that is not the header. Columns of
/// dates and times are left out, because no model learns from a text, unless the options name them.
/// kCorrupt, as one line without a file's name, when a column is unknown or their number is not that of the
/// sample's features. Without a label column in the options the last one that is left is it; a delimiter
/// stands in them. `with_label` false: a row of features alone is taken too.
[[nodiscard]] Result<CsvColumns> find_csv_columns(const CsvOptions& options,
                                                  const std::vector<std::string>& header,
                                                  const std::vector<std::string_view>& first,
                                                  bool with_label = true);

}  // namespace aflguard
