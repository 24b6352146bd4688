#pragma once

#include "core/base/result.h"
#include "edge_client/client_config.h"

namespace aflguard::edge {

/// Reads rows of the text table `rows` (empty: standard input) and writes one line for each to standard
/// output: the class and its probability, or the value; with `json` one object. The model is the one that the
/// client exports. A row that cannot be read gets a line that says so; then the result is an error in the
/// end.
[[nodiscard]] Status predict_rows(const ClientConfig& config, const std::string& rows, bool json);

}  // namespace aflguard::edge
