#pragma once

#include <CLI/CLI.hpp>

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// aflguard fleet rollout, with status and undo.
void add_rollout_verbs(CLI::App& fleet, Action& action);

}  // namespace aflguard::cli
