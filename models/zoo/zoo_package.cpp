#include "models/zoo/zoo_package.h"

namespace aflguard::models {

Result<ModelPackage> build_zoo_package(std::string_view name, const ZooOptions& options, OpsFlavor ops) {
  TRY(const ZooEntry* entry, find_zoo_entry(name));
  TRY(const ForwardModel model, build_zoo_model(name, options));
  TRY(BuiltPackage built, build_package(model, {.loss = entry->loss, .ops = ops}));
  return std::move(built.package);
}

}  // namespace aflguard::models
