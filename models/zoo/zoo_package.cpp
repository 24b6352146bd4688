#include "models/zoo/zoo_package.h"

#include <algorithm>

namespace aflguard::models {

Result<ModelPackage> build_zoo_package(std::string_view name, const ZooOptions& options, OpsFlavor ops) {
  TRY(const ForwardModel model, build_zoo_model(name, options));
  const auto entry = std::ranges::find_if(zoo(), [name](const ZooEntry& e) { return name == e.name; });
  TRY(BuiltPackage built, build_package(model, {.loss = entry->loss, .ops = ops}));
  return std::move(built.package);
}

}  // namespace aflguard::models
