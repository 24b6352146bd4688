#pragma once

#include "lab/runs/experiment.h"
#include "tools/aflguard/verb.h"

namespace aflguard::bench {

/// `aflguard bench train | guard | gateway`; guard runs the guards of `catalog`.
void add_bench_verbs(CLI::App& app, cli::Action& action, const lab::Catalog& catalog);

}  // namespace aflguard::bench
