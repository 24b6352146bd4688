#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/learning/data/csv.h"
#include "core/learning/data/csv_cells.h"
#include "core/learning/data/csv_columns.h"

namespace aflguard {

/// Why a row is not a sample.
enum class RowProblem : std::uint8_t {
  kNone,
  kMissing,  ///< a cell without a value
  kNumber,   ///< a cell that is not a number
  kLabel,    ///< a label that is not a class
  kColumns,  ///< another number of columns, or behind a header with other columns
  kHeader,   ///< a header once more
};

/// Turns the rows of a text table into samples, one at a time. Shared by what reads a table to its end, what
/// follows one that grows, and what only checks one.
class CsvRows final {
 public:
  using Fields = std::vector<std::string_view>;

  CsvRows(std::string name, CsvOptions options);

  /// A new file begins: its first rows go to begin() again.
  void restart();
  /// The first rows of a file: learns the columns from them. True when this one was the header: the next one
  /// goes to begin() too. False when it is a row for add().
  [[nodiscard]] Result<bool> begin(const CsvReader& reader, const Fields& fields);
  /// Adds one sample, or nothing and says why; problem() says it in a word.
  [[nodiscard]] Status add(const CsvReader& reader, const Fields& fields);
  [[nodiscard]] RowProblem problem() const { return problem_; }
  /// True when the options say that a row with such a problem is left out without being a mistake.
  [[nodiscard]] bool left_out_on_purpose() const {
    return problem_ == RowProblem::kMissing && options_.missing != MissingCells::kRefuse;
  }
  /// Puts the columns' means where cells were missing, if the options want them.
  void fill_missing();
  /// Forgets the oldest samples until `count` are left.
  void keep_newest(std::size_t count);

  [[nodiscard]] const CsvOptions& options() const { return options_; }
  /// Known after begin() gave false.
  [[nodiscard]] const CsvColumns& columns() const { return columns_; }
  [[nodiscard]] const Dataset& data() const { return data_; }
  [[nodiscard]] Dataset release() && { return std::move(data_); }

 private:
  struct Gap {
    std::size_t sample = 0;
    std::size_t feature = 0;
  };

  [[nodiscard]] bool is_header(const Fields& fields) const;
  [[nodiscard]] bool is_other_header(const Fields& fields) const;
  [[nodiscard]] Status check_width(const CsvReader& reader, const Fields& fields);
  [[nodiscard]] Status read_feature(std::size_t feature, std::string_view field);
  [[nodiscard]] Status read_number(std::size_t feature, std::string_view field);
  [[nodiscard]] Status read_label(std::string_view field);
  [[nodiscard]] Status read_class(std::string_view field);
  void append_row();

  CsvOptions options_;
  Dataset data_;
  CsvColumns columns_;
  std::optional<CsvNumbers> cells_;
  std::vector<std::string> header_;
  bool header_seen_ = false;
  std::string other_columns_;  ///< of a header in the middle of the file; empty while there is none
  RowProblem problem_ = RowProblem::kNone;
  // Means of what was read, for cells without a value.
  std::vector<double> sums_;
  std::vector<std::size_t> counts_;
  std::vector<Gap> gaps_;
  // The row that is being read: it becomes a sample only when all of it is good.
  std::vector<std::uint8_t> pixels_;
  std::vector<float> numbers_;
  std::vector<std::size_t> missing_;
  std::int64_t row_label_ = 0;
  float row_value_ = 0;
};

}  // namespace aflguard
