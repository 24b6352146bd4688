#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard fleet viewer add|list|renew|revoke|bundle`.
void add_viewer_verbs(CLI::App& fleet, Action& action);

}  // namespace aflguard::cli
