#include "lab/campaigns/lab_resources.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/system/machine/machine_context.h"
#include "datasets/load.h"
#include "lab/tasks/own_data.h"
#include "lab/tasks/streams.h"
#include "lab/tasks/zoo_package.h"

namespace aflguard::lab {
namespace {

/// Packages by data set, built when first wanted.
class PackageShelf final {
 public:
  PackageShelf(TrainerFactory make_trainer, std::optional<ModelPackage> package)
      : make_trainer_(std::move(make_trainer)), given_(std::move(package)) {}

  Result<ModelSource> source(const std::string& dataset) {
    TRY(auto package, package_for(dataset));
    ModelSource model;
    model.make_trainer = [package, make = make_trainer_] { return make(*package); };
    model.initial = [package](std::uint64_t seed) {
      return initial_theta(*package, Random(seed, kInitialModelStream).next());
    };
    return model;
  }

 private:
  Result<std::shared_ptr<const ModelPackage>> package_for(const std::string& dataset) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<const ModelPackage>& package = packages_[dataset];
    if (package == nullptr) {
      if (given_) {
        package = std::make_shared<const ModelPackage>(*given_);
      } else {
        TRY(auto built, zoo_package_for(dataset));
        package = std::make_shared<const ModelPackage>(std::move(built));
      }
    }
    return package;
  }

  std::mutex mutex_;
  const TrainerFactory make_trainer_;
  std::optional<ModelPackage> given_;
  std::map<std::string, std::shared_ptr<const ModelPackage>> packages_;
};

}  // namespace

Result<LabResources> make_lab_resources(const Catalog& catalog,
                                        const std::optional<std::filesystem::path>& model_package,
                                        TrainerFactory make_trainer, const std::string& partition) {
  std::optional<ModelPackage> package;
  if (model_package) {
    TRY(package, read_model_package(*model_package));
  }
  std::optional<ModelDescription> model;
  if (package) model = package->description;
  const auto shelf = std::make_shared<PackageShelf>(std::move(make_trainer), std::move(package));
  LabResources resources;
  resources.catalog = catalog;
  resources.model = [shelf](const std::string& dataset) { return shelf->source(dataset); };
  resources.data = [model,
                    partition](const std::string& dataset) -> Result<std::shared_ptr<const DatasetSplit>> {
    if (is_own_data(dataset)) {
      if (!model) {
        return invalid_input("'" + dataset +
                             "' needs a model: --model DIR, a package of `aflguard model build`");
      }
      TRY(auto own, load_own_data(dataset, partition, *model));
      return std::make_shared<const DatasetSplit>(std::move(own));
    }
    if (dataset == "synthetic") return std::shared_ptr<const DatasetSplit>();
    TRY(auto split, datasets::load_dataset(dataset));
    return std::make_shared<const DatasetSplit>(std::move(split));
  };
  return resources;
}

nlohmann::ordered_json lab_context(const std::string& onnxruntime_version) {
  nlohmann::ordered_json context = machine_context();
  context["onnxruntime"] = onnxruntime_version;
  return context;
}

}  // namespace aflguard::lab
