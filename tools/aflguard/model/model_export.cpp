#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/learning/model_package.h"
#include "gateway_server/store/sqlite_stored_model.h"
#include "models/inference_files.h"
#include "models/model_arrays.h"
#include "tools/aflguard/model/model_run.h"

namespace aflguard::cli {
namespace {

Result<SavedModel> parameters_of(const ModelRunOptions& options, const ModelDescription& model) {
  if (!options.store.empty()) return gateway::read_stored_model(options.store, model);
  SavedModel saved;
  TRY(saved.parameters, models::read_theta(options.theta, model));
  return saved;
}

}  // namespace

Status export_model(const ModelRunOptions& options) {
  TRY(const ModelPackage package, read_model_package(options.folder));
  TRY(const SavedModel saved, parameters_of(options, package.description));
  TRY_STATUS(
      models::write_inference_files(package, saved.parameters, {.onnx = options.output, .npy = options.npy}));
  if (options.json) {
    nlohmann::ordered_json document = {{"schema", "aflguard.model.export/1"},
                                       {"onnx", options.output},
                                       {"dimension", saved.parameters.size()},
                                       {"hash", package.description.hash}};
    if (!options.npy.empty()) document["theta"] = options.npy;
    if (!options.store.empty()) {
      document["version"] = saved.version;
      document["iteration"] = saved.iteration;
    }
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("%s: %s with its %zu parameters inside", options.output.c_str(),
                package.description.name.c_str(), saved.parameters.size());
    if (!options.store.empty()) std::printf(", version %llu", static_cast<unsigned long long>(saved.version));
    std::printf("\n");
  }
  return {};
}

}  // namespace aflguard::cli
