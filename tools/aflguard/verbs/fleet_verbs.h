#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard fleet init|renew|refresh`
void add_fleet_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
