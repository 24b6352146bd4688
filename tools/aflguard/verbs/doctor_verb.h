#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard doctor`.
void add_doctor_verb(CLI::App& app, Action& action);

}  // namespace aflguard::cli
