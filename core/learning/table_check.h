#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/dataset_files.h"
#include "core/learning/model_description.h"

namespace aflguard {

/// What a board would make of a table, found out by reading all of it.
struct TableCheck {
  struct Skipped {
    std::string reason;
    std::size_t count = 0;
    std::size_t first_line = 0;
  };
  struct Class {
    std::string name;
    std::size_t count = 0;
  };
  struct Column {
    std::string name;
    bool numbers = false;  ///< some cell is one: low and high are of them
    double low = 0;
    double high = 0;
    std::size_t missing = 0;
  };

  std::size_t rows = 0;  ///< without the header
  std::size_t used = 0;  ///< of them, as samples
  std::vector<Skipped> skipped;
  std::vector<Class> classes;   ///< of the samples used; the model's, in its order; empty for a regression
  std::vector<Column> columns;  ///< the features, in the order of a sample
  std::vector<std::string> left_out;  ///< columns that are neither features nor label
  std::string label;                  ///< the label's column
  char delimiter = ',';
  std::vector<std::string> problems;  ///< why a board would not train on it; empty: it would
};

/// Errors are of files that cannot be read at all; everything else is a problem in the result.
[[nodiscard]] Result<TableCheck> check_table(const DatasetFiles& files, const ModelDescription& model);

}  // namespace aflguard
