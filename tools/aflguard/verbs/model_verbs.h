#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::tools {

/// `aflguard model list|build|info|init|gradient|predict|check`
void add_model_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::tools
