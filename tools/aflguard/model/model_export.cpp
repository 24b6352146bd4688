#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/learning/data/npy.h"
#include "core/learning/dataset_files.h"
#include "core/learning/inference_file.h"
#include "core/learning/model_package.h"
#include "core/learning/normalisation_statistics.h"
#include "core/system/atomic_file.h"
#include "gateway_server/store/sqlite_stored_model.h"
#include "models/model_arrays.h"
#include "models/onnx_file/inference_onnx.h"
#include "tools/aflguard/model/model_run.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

Result<SavedModel> parameters_of(const ModelRunOptions& options, const ModelDescription& model) {
  if (!options.store.empty()) return gateway::read_stored_model(options.store, model);
  SavedModel saved;
  TRY(saved.parameters, models::read_theta(options.theta, model));
  return saved;
}

/// Statistics of normalisations at these parameters; empty where the model needs none.
Result<std::vector<float>> statistics_for(const ModelRunOptions& options, const ModelPackage& package,
                                          std::span<const float> theta) {
  const ModelDescription& model = package.description;
  if (model.statistics == 0) return std::vector<float>();
  std::vector<float> features = package.calibration;
  if (!options.statistics.empty()) {
    TRY(const DatasetFiles files, table_files(options.statistics, options.table));
    TRY(const Dataset data, load_dataset(files, model));
    features = calibration_features(data, kMaxCalibrationSamples);
  }
  if (features.empty()) {
    return invalid_input("model '" + model.name +
                         "' has batch normalisation: give samples like those that it will see with "
                         "--statistics FILE, e.g. the fleet's trusted set, or build the package with "
                         "--calibration FILE");
  }
  TRY(const auto trainer, load_trainer(package, 1, {}));
  return measure_statistics(*trainer, theta, features);
}

Status write_export(const ModelRunOptions& options, const ModelPackage& package, const SavedModel& saved) {
  if (package.inference_graph.empty()) {  // built by an older version
    TRY(const std::string onnx, models::inference_onnx(package, saved.parameters));
    return write_file_atomically(options.output, onnx);
  }
  TRY(const auto statistics, statistics_for(options, package, saved.parameters));
  FileNotes notes = model_notes(package.description);
  if (!options.store.empty()) notes.emplace_back(kNoteVersion, std::to_string(saved.version));
  TRY(const InferenceFile file, make_inference_file(package, saved.parameters, statistics, notes));
  return write_file_atomically(options.output, file.parts);
}

}  // namespace

Status export_model(const ModelRunOptions& options) {
  TRY(const ModelPackage package, read_model_package(options.folder));
  TRY(const SavedModel saved, parameters_of(options, package.description));
  TRY_STATUS(write_export(options, package, saved));
  if (!options.npy.empty()) {
    TRY_STATUS(write_npy(options.npy, saved.parameters, {saved.parameters.size()}, package.description.hash));
  }
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
