#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard dashboard`
void add_dashboard_verb(CLI::App& app, Action& action);

}  // namespace aflguard::cli
