#pragma once

#include <string_view>

#include "core/base/result.h"
#include "core/learning/model_package.h"

namespace aflguard::lab {

/// The model that the paper trains on a data set, built in memory from the zoo. Errors as
/// find_lab_dataset().
[[nodiscard]] Result<ModelPackage> zoo_package_for(std::string_view dataset);

}  // namespace aflguard::lab
