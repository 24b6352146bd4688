#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::tools {

/// `aflguard fleet viewer add|list|renew|revoke|bundle`.
void add_viewer_verbs(CLI::App& fleet, Action& action);

}  // namespace aflguard::tools
