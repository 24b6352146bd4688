#include "tools/aflguard/table_options.h"

#include <CLI/CLI.hpp>

namespace aflguard::cli {

void add_table_options(CLI::App& verb, TableOptions& options) {
  verb.add_option("--label-column", options.label_column, "Name or number from 0 (default: the last column)")
      ->type_name("NAME");
  verb.add_option("--delimiter", options.delimiter, "One letter, or tab (default: found out)");
  verb.add_option("--missing", options.missing, "What becomes of cells without a value (default: refused)")
      ->check(CLI::IsMember({"skip", "zero", "mean"}));
  verb.add_option("--decimal", options.decimal, "Decimal mark (default: found out)")
      ->check(CLI::IsMember({"point", "comma"}));
  auto* columns = verb.add_option("--columns", options.columns, "The features, in this order")
                      ->delimiter(',')
                      ->type_name("NAME,...");
  verb.add_option("--ignore", options.ignore, "Columns that are neither features nor label")
      ->delimiter(',')
      ->type_name("NAME,...")
      ->excludes(columns);
}

Result<DatasetFiles> table_files(const std::string& file, const TableOptions& options) {
  DatasetFiles files;
  files.features = file;
  files.label_column = options.label_column == "last" ? "" : options.label_column;
  if (options.delimiter == "tab") {
    files.delimiter = '\t';
  } else if (options.delimiter.size() == 1) {
    files.delimiter = options.delimiter.front();
  } else if (!options.delimiter.empty()) {
    return invalid_input("--delimiter is '" + options.delimiter + "', must be one letter, or tab");
  }
  files.columns = options.columns;
  files.ignore = options.ignore;
  if (options.missing == "skip") files.missing = MissingCells::kSkip;
  if (options.missing == "zero") files.missing = MissingCells::kZero;
  if (options.missing == "mean") files.missing = MissingCells::kMean;
  if (options.decimal == "point") files.decimal = DecimalMark::kPoint;
  if (options.decimal == "comma") files.decimal = DecimalMark::kComma;
  return files;
}

}  // namespace aflguard::cli
