#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard demo`
void add_demo_verb(CLI::App& app, Action& action);

}  // namespace aflguard::cli
