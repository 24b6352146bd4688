#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/learning/data/csv.h"

namespace aflguard {

/// Turns the rows of a text table into samples, one at a time. Shared by what reads a table to its end and
/// what follows one that grows.
class CsvRows final {
 public:
  using Fields = std::vector<std::string_view>;

  CsvRows(std::string name, CsvOptions options);

  /// The first row of a file: learns the columns from it. True when it was a header, so no sample.
  [[nodiscard]] Result<bool> begin(const CsvReader& reader, const Fields& fields);
  /// Adds one sample, or nothing and says why.
  [[nodiscard]] Status add(const CsvReader& reader, const Fields& fields);
  /// Forgets the oldest samples until `count` are left.
  void keep_newest(std::size_t count);

  [[nodiscard]] const CsvOptions& options() const { return options_; }
  [[nodiscard]] const Dataset& data() const { return data_; }
  [[nodiscard]] Dataset release() && { return std::move(data_); }

 private:
  [[nodiscard]] bool is_header(const Fields& fields) const;
  [[nodiscard]] Status find_label_column(const CsvReader& reader, const Fields& first, bool header);
  [[nodiscard]] Status read_feature(std::string_view field);
  [[nodiscard]] Status read_label(std::string_view field);
  void append_row();

  CsvOptions options_;
  Dataset data_;
  std::size_t columns_ = 0;
  std::size_t label_ = 0;
  // The row that is being read: it becomes a sample only when all of it is good.
  std::vector<std::uint8_t> pixels_;
  std::vector<float> numbers_;
  std::int64_t row_label_ = 0;
  float row_value_ = 0;
};

}  // namespace aflguard
