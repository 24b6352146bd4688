#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/dataset_files.h"

namespace CLI {
class App;
}

namespace aflguard::cli {

/// How a text table is to be read, as the keys of a section [data] say it.
struct TableOptions {
  std::string label_column;
  std::string delimiter;
  std::string missing;
  std::string decimal;
  std::vector<std::string> columns;
  std::vector<std::string> ignore;
};

void add_table_options(CLI::App& verb, TableOptions& options);

[[nodiscard]] Result<DatasetFiles> table_files(const std::string& file, const TableOptions& options);

}  // namespace aflguard::cli
