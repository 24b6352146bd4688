#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard data check FILE --model DIR`
void add_data_check_verb(CLI::App& data, Action& action);

}  // namespace aflguard::cli
