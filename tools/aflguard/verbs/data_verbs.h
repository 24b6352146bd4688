#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard data check|list|get|import|verify`
void add_data_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
