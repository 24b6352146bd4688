#pragma once

#include "tools/aflguard/verb.h"

namespace aflguard::cli {

/// aflguard image build|identity
void add_image_verbs(CLI::App& app, Action& action);

}  // namespace aflguard::cli
