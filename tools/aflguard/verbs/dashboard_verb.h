#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::tools {

/// `aflguard dashboard`
void add_dashboard_verb(CLI::App& app, Action& action);

}  // namespace aflguard::tools
