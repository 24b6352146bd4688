#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::tools {

/// aflguard sim ...: simulated boards.
void add_sim_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::tools
