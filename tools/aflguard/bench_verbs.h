#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::tools {

/// `aflguard bench train`
void add_bench_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::tools
