#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/csv_cells.h"
#include "core/learning/data/dataset.h"
#include "core/learning/data/sample_range.h"

namespace aflguard {

/// As a delimiter: found out from the first lines.
inline constexpr char kFindDelimiter = '\0';

struct CsvLimits {
  std::size_t line_bytes = std::size_t{1} << 20;
  std::size_t columns = std::size_t{1} << 16;
  std::size_t rows = std::size_t{1} << 26;
};

/// Reads a text table row by row; memory grows with the longest line, not with the file.
/// Fields may stand in double quotes ("" inside means one quote); a field never spans lines. A byte order
/// mark, carriage returns at line ends and empty lines are skipped.
class CsvReader final {
 public:
  /// `delimiter` ' ' means any run of blanks and tabs, as in tables written for people; kFindDelimiter means
  /// what the first lines look like.
  [[nodiscard]] static Result<CsvReader> open(const std::filesystem::path& path, char delimiter = ',',
                                              const CsvLimits& limits = {});
  /// The same for what need not be a file: a pipe, a terminal.
  [[nodiscard]] static Result<CsvReader> open_stream(const std::filesystem::path& path, char delimiter = ',',
                                                     const CsvLimits& limits = {});
  /// The same for a file that grows: next() gives whole lines only, and after it gave false it can be called
  /// again when more has come.
  [[nodiscard]] static Result<CsvReader> follow(const std::filesystem::path& path, char delimiter = ',',
                                                const CsvLimits& limits = {});

  /// The next row's fields, which live until the next call; false at the end of the file.
  [[nodiscard]] Result<bool> next(std::vector<std::string_view>& fields);

  /// "FILE: line N: " in front of `message`, for errors about the row that next() gave last.
  [[nodiscard]] Error error_here(std::string_view message) const;
  /// "FILE: line N, column M: " in front; `column` counts from 0, the message counts from 1.
  [[nodiscard]] Error error_at(std::size_t column, std::string_view message) const;
  /// What separates the fields; kFindDelimiter until the first row was read.
  [[nodiscard]] char delimiter() const { return delimiter_; }
  /// Of the row that next() gave last, from 1.
  [[nodiscard]] std::size_t line() const { return line_number_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Bytes of the file that next() has consumed.
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }

 private:
  CsvReader(std::filesystem::path path, std::ifstream file, char delimiter, const CsvLimits& limits)
      : path_(std::move(path)), file_(std::move(file)), delimiter_(delimiter), limits_(limits) {}
  [[nodiscard]] Result<bool> next_line();
  [[nodiscard]] Status refill();
  [[nodiscard]] Status split(std::vector<std::string_view>& fields);
  [[nodiscard]] Result<std::size_t> unquote(std::size_t start, std::string_view& field);

  std::filesystem::path path_;
  std::ifstream file_;
  char delimiter_;
  CsvLimits limits_;
  std::string buffer_;  ///< read from the file, not yet consumed from `position_` on
  std::size_t position_ = 0;
  std::string line_;
  std::size_t line_number_ = 0;
  std::size_t rows_ = 0;
  std::uint64_t consumed_ = 0;
  bool follows_ = false;
};

/// One field as a finite number. Messages name the text.
[[nodiscard]] Result<float> parse_csv_number(std::string_view field);
[[nodiscard]] Result<std::int64_t> parse_csv_integer(std::string_view field, std::int64_t low,
                                                     std::int64_t high);

enum class CsvHeader : std::uint8_t { kDetect, kPresent, kAbsent };

/// What becomes of a cell without a value.
enum class MissingCells : std::uint8_t {
  kRefuse,  ///< its row is not a sample
  kSkip,    ///< its row is left out
  kZero,    ///< it counts as 0
  kMean,    ///< it counts as the mean of its column
};

/// How a table becomes a data set.
struct CsvOptions {
  char delimiter = ',';                   ///< or kFindDelimiter
  CsvHeader header = CsvHeader::kDetect;  ///< kDetect: a first row without any number is a header
  std::string label_column = {};          ///< a header's name or a number from 0; empty: the last column
  std::vector<std::string> columns = {};  ///< the features, in this order; empty: all others
  std::vector<std::string> ignore = {};   ///< neither features nor label
  MissingCells missing = MissingCells::kRefuse;
  DecimalMark decimal = DecimalMark::kDetect;
  std::size_t classes = 0;  ///< labels are first_label, ..., first_label + classes - 1;
                            ///< 0: regression, the label column holds values
  std::int64_t first_label = 0;
  bool with_labels = true;                     ///< false: rows may have none, and every sample gets class 0
  std::vector<std::string> class_names = {};   ///< labels are these texts instead of numbers
  std::vector<float> feature_means = {};       ///< for kMean; empty: those of the table
  bool pixels = false;                         ///< features are whole numbers 0-255, kept as bytes
  std::int64_t ids = 0;                        ///< above 0: features are whole numbers below it
  std::vector<std::size_t> sample_shape = {};  ///< of all other columns, in order; empty: {number of them}
  SampleRange range = {};                      ///< rows outside are skipped unread
  CsvLimits limits = {};
};

/// Errors name file, line and column, the value found and what was expected.
[[nodiscard]] Result<Dataset> read_csv_dataset(const std::string& name, const std::filesystem::path& path,
                                               const CsvOptions& options);

}  // namespace aflguard
