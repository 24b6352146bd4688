#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard device add|list|renew|revoke|bundle`
void add_device_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
