#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard monitor` and `aflguard status`.
void add_monitor_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
