#include "tools/aflguard/model/model_build.h"

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/learning/data/npy.h"
#include "core/learning/data/shape.h"
#include "core/learning/dataset_files.h"
#include "core/learning/input_scaling.h"
#include "core/learning/normalisation_statistics.h"
#include "models/package_request.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;

Result<std::vector<std::size_t>> parse_image_shape(const std::string& text) {
  std::vector<std::size_t> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    std::size_t extent = 0;
    const auto [next, problem] = std::from_chars(at, end, extent);
    if (problem != std::errc() || (next != end && (*next != 'x' || next + 1 == end))) {
      return invalid_input("--input is '" + text + "', expected CxHxW, e.g. 1x64x64");
    }
    shape.push_back(extent);
    at = next == end ? end : next + 1;
  }
  return shape;
}

/// The command line's texts as values.
Result<models::PackageRequest> request_of(const ModelBuildOptions& options) {
  models::PackageRequest request{.zoo = options.zoo,
                                 .onnx = options.onnx,
                                 .import = {options.output, options.frozen},
                                 .name = options.name};
  if (options.features > 0) request.zoo_options.features = options.features;
  if (options.classes > 0) request.zoo_options.classes = options.classes;
  TRY(request.zoo_options.input_shape, parse_image_shape(options.input));
  if (!options.loss.empty()) {
    TRY(request.loss, parse_loss(options.loss));
  }
  request.ops = options.ops == "standard" ? models::OpsFlavor::kStandard : models::OpsFlavor::kFused;
  request.evaluation =
      options.evaluation == "stored" ? models::NormStatistics::kStored : models::NormStatistics::kBatch;
  return request;
}

Result<Dataset> read_samples(const std::string& file, const ModelBuildOptions& options,
                             const ModelDescription& model) {
  TRY(const DatasetFiles files, table_files(file, options.table));
  return load_dataset(files, model);
}

/// What the package says beside the graphs: class names, and scaling measured on a table.
Status add_data_facts(const ModelBuildOptions& options, ModelDescription description,
                      models::PackageOptions& settings) {
  settings.class_names = options.labels;
  description.class_names = options.labels;
  TRY_STATUS(check_names_and_scaling(description));
  if (options.standardise.empty()) return {};
  TRY(const Dataset data, read_samples(options.standardise, options, description));
  settings.scaling = measure_scaling(data);
  return {};
}

Result<std::vector<float>> read_calibration(const ModelBuildOptions& options, const ModelDescription& model) {
  if (!options.calibration.ends_with(".npy")) {
    TRY(const Dataset data, read_samples(options.calibration, options, model));
    return calibration_features(data, kPackagedCalibrationSamples);
  }
  TRY(const NpyArray array, read_npy(options.calibration));
  Dataset data;
  data.sample_shape = model.input_shape;
  TRY(auto features, array.as_float32(options.calibration));
  if (features.empty() || features.size() % model.input_size() != 0) {
    return invalid_input(options.calibration + " holds " + std::to_string(features.size()) +
                         " numbers, a sample has " + std::to_string(model.input_size()));
  }
  data.values.resize(features.size() / model.input_size());
  data.features = std::move(features);
  return calibration_features(data, kPackagedCalibrationSamples);
}

/// Samples for the statistics of normalisations, where the model has some that are measured.
Status add_calibration(const ModelBuildOptions& options, models::BuiltPackage& built) {
  const bool measured = built.package.description.statistics > 0;
  if (options.calibration.empty()) {
    if (measured) {
      built.notes.push_back(
          "batch normalisation uses the statistics of each batch; for predictions of single samples (export, "
          "boards) add --calibration FILE: 256 of its samples, features only, go into the package");
    }
    return {};
  }
  if (!measured) {
    built.notes.push_back("--calibration is not needed: the model has no normalisation that is measured");
    return {};
  }
  TRY(built.package.calibration, read_calibration(options, built.package.description));
  return {};
}

void report(const ModelBuildOptions& options, const models::BuiltPackage& built) {
  const ModelDescription& model = built.package.description;
  for (const std::string& note : built.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  if (options.json) {
    const Json document = {
        {"schema", "aflguard.model.build/1"}, {"name", model.name}, {"package", options.folder},
        {"dimension", model.dimension()},     {"hash", model.hash}, {"notes", built.notes}};
    std::printf("%s\n", document.dump(2).c_str());
    return;
  }
  std::printf("%s: %zu parameters in %zu tensors, input %s, %s; written to %s\n", model.name.c_str(),
              model.dimension(), model.parameters.size(), shape_text(model.input_shape).c_str(),
              std::string(to_string(model.loss)).c_str(), options.folder.c_str());
}

}  // namespace

Status build_model(const ModelBuildOptions& options) {
  TRY(models::PackageRequest request, request_of(options));
  request.add_facts = [&options](const ModelDescription& shapes, models::PackageOptions& settings) {
    return add_data_facts(options, shapes, settings);
  };
  TRY(models::BuiltPackage built, models::make_package(request));
  TRY_STATUS(add_calibration(options, built));
  TRY_STATUS(write_model_package(built.package, options.folder, options.force));
  report(options, built);
  return {};
}

Status list_models(bool json) {
  Json document = {{"schema", "aflguard.model.list/1"}, {"models", Json::array()}};
  for (const models::ZooEntry& entry : models::zoo()) {
    document["models"].push_back(
        {{"name", entry.name}, {"summary", entry.summary}, {"loss", to_string(entry.loss)}});
    if (!json) std::printf("%-20s %s\n", entry.name, entry.summary);
  }
  if (json) std::printf("%s\n", document.dump(2).c_str());
  return {};
}

}  // namespace aflguard::cli
