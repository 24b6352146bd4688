#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// Parses the command line and does what it says. Exit codes: 0 done, 1 the verb failed (one line on stderr
/// says why), 2 the command line is wrong.
[[nodiscard]] int run_command_line(CLI::App& app, const Action& action, int argc, const char* const* argv);

}  // namespace aflguard::cli
