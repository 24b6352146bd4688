#pragma once

#include <string_view>

#include "models/build_package.h"
#include "models/zoo/zoo.h"

namespace aflguard::models {

/// A model of the zoo, differentiated, in memory. Errors as of build_zoo_model().
[[nodiscard]] Result<ModelPackage> build_zoo_package(std::string_view name, const ZooOptions& options = {},
                                                     OpsFlavor ops = OpsFlavor::kFused);

}  // namespace aflguard::models
