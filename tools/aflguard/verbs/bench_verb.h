#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard bench ...`: aflguard-bench with the same words.
void add_bench_verb(CLI::App& app, Action& action);

}  // namespace aflguard::cli
