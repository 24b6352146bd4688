#pragma once

#include "lab/runs/experiment.h"
#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// aflguard lab run | table | figure | list | bound, with the guards and attacks of `catalog`.
void add_lab_verbs(CLI::App& app, Action& action, const lab::Catalog& catalog);

}  // namespace aflguard::cli
