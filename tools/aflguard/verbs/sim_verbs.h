#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// aflguard sim ...: simulated boards.
void add_sim_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
