#pragma once

#include "core/base/result.h"
#include "tools/aflguard/demo/demo_options.h"

namespace aflguard::cli {

/// A fleet on this machine from its first certificate to its last verdict: provisions it, starts broker,
/// gateway and clients, shows it learning, stops everything again, and leaves report, recording and logs.
[[nodiscard]] Status run_demo(const DemoOptions& options);

}  // namespace aflguard::cli
