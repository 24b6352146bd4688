#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace aflguard {

/// One row of a text table, without a line end, out of a JSON object with these fields or an array of as many
/// values: numbers as they are, texts quoted where they need it, null and a field that is not there as a cell
/// without a value. kCorrupt when it is neither, or a value is an object or an array.
[[nodiscard]] Result<std::string> csv_row_of_json(std::string_view json,
                                                  const std::vector<std::string>& fields);

/// A name or text as one field of a table that is separated by commas.
[[nodiscard]] std::string csv_field(std::string_view text);

}  // namespace aflguard
