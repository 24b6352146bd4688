#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// `aflguard model list|build|info|init|gradient|predict|check`
void add_model_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
