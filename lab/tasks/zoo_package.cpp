#include "lab/tasks/zoo_package.h"

#include "lab/tasks/settings.h"
#include "models/zoo/zoo_package.h"

namespace aflguard::lab {

Result<ModelPackage> zoo_package_for(std::string_view dataset) {
  TRY(const LabDataset* known, find_lab_dataset(dataset));
  models::ZooOptions zoo;
  if (dataset == "colorectal") {
    zoo.input_shape = {1, 64, 64};
    zoo.classes = 8;
  }
  return models::build_zoo_package(known->zoo_model, zoo);
}

}  // namespace aflguard::lab
