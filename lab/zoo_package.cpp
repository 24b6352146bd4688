#include "lab/zoo_package.h"

#include "lab/settings.h"
#include "models/build_package.h"
#include "models/zoo/zoo.h"

namespace aflguard::lab {

Result<ModelPackage> zoo_package_for(std::string_view dataset) {
  TRY(const LabDataset* known, find_lab_dataset(dataset));
  models::ZooOptions zoo;
  if (dataset == "colorectal") {
    zoo.input_shape = {1, 64, 64};
    zoo.classes = 8;
  }
  TRY(const auto model, models::build_zoo_model(known->zoo_model, zoo));
  models::PackageOptions options;
  options.loss = dataset == "synthetic" ? Loss::kMeanSquaredError : Loss::kCrossEntropy;
  TRY(auto built, models::build_package(model, options));
  return std::move(built.package);
}

}  // namespace aflguard::lab
