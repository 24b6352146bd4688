#include "lab/campaigns/lab_resources.h"

#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/learning_onnx/onnx_trainer.h"
#include "core/system/machine_context.h"
#include "datasets/load.h"
#include "lab/tasks/streams.h"
#include "lab/tasks/zoo_package.h"

namespace aflguard::lab {
namespace {

/// Packages by data set, built when first wanted.
class PackageShelf final {
 public:
  PackageShelf(std::shared_ptr<const OnnxRuntime> runtime, std::optional<ModelPackage> package)
      : runtime_(std::move(runtime)), given_(std::move(package)) {}

  Result<lab::ModelSource> source(const std::string& dataset) {
    TRY(auto package, package_for(dataset));
    lab::ModelSource model;
    model.make_trainer = [package, runtime = runtime_] { return make_onnx_trainer(runtime, *package); };
    model.initial = [package](std::uint64_t seed) {
      return initial_theta(*package, Random(seed, lab::kInitialModelStream).next());
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
        TRY(auto built, lab::zoo_package_for(dataset));
        package = std::make_shared<const ModelPackage>(std::move(built));
      }
    }
    return package;
  }

  std::mutex mutex_;
  std::shared_ptr<const OnnxRuntime> runtime_;
  std::optional<ModelPackage> given_;
  std::map<std::string, std::shared_ptr<const ModelPackage>> packages_;
};

}  // namespace

Result<lab::LabResources> make_lab_resources(const lab::Catalog& catalog,
                                             const std::optional<std::filesystem::path>& model_package) {
  std::optional<ModelPackage> package;
  if (model_package) {
    TRY(package, read_model_package(*model_package));
  }
  TRY(auto runtime, OnnxRuntime::load());
  const auto shelf = std::make_shared<PackageShelf>(std::move(runtime), std::move(package));
  lab::LabResources resources;
  resources.catalog = catalog;
  resources.model = [shelf](const std::string& dataset) { return shelf->source(dataset); };
  resources.data = [](const std::string& dataset) -> Result<std::shared_ptr<const DatasetSplit>> {
    if (dataset == "synthetic") return std::shared_ptr<const DatasetSplit>();
    TRY(auto split, datasets::load_dataset(dataset));
    return std::make_shared<const DatasetSplit>(std::move(split));
  };
  return resources;
}

Result<nlohmann::ordered_json> lab_context() {
  TRY(const auto runtime, OnnxRuntime::load());
  nlohmann::ordered_json context = machine_context();
  context["onnxruntime"] = runtime->version();
  return context;
}

}  // namespace aflguard::lab
