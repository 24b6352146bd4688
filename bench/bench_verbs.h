#pragma once

#include <functional>

#include "core/base/result.h"
#include "lab/runs/experiment.h"

namespace CLI {
class App;
}

namespace aflguard::bench {

/// What the chosen benchmark does once the command line is parsed; main() runs it.
using Action = std::function<Status()>;

/// train, guard, bytes, gateway, crowd, scale, day, watch and monitor; guard runs the guards of `catalog`.
void add_bench_verbs(CLI::App& app, Action& action, const lab::Catalog& catalog);

}  // namespace aflguard::bench
