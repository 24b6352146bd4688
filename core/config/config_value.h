#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace aflguard {

/// One value of a configuration file and the line where it stands (from 1; 0 when unknown).
struct ConfigValue {
  using Array = std::vector<ConfigValue>;
  using Table = std::map<std::string, ConfigValue>;
  /// A kind that no option has: a date or a time. Holds the word for it.
  struct Other {
    std::string kind;
  };

  std::variant<bool, std::int64_t, double, std::string, Array, Table, Other> value;
  std::size_t line = 0;
  std::size_t layer = 0;  ///< of the files that were laid one over the other; 0: the lowest

  [[nodiscard]] const Table* as_table() const { return std::get_if<Table>(&value); }
};

}  // namespace aflguard
