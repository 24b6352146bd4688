#include "tools/aflguard/model/model_build.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/learning/data/shape.h"
#include "models/build_package.h"
#include "models/import/import_model.h"
#include "models/onnx_file/onnx_file.h"
#include "models/zoo/zoo.h"

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

Result<models::ForwardModel> zoo_model(const ModelBuildOptions& options) {
  models::ZooOptions settings;
  if (options.features > 0) settings.features = options.features;
  if (options.classes > 0) settings.classes = options.classes;
  TRY(settings.input_shape, parse_image_shape(options.input));
  return models::build_zoo_model(options.zoo, settings);
}

Result<models::ForwardModel> imported_model(const ModelBuildOptions& options) {
  if (options.features > 0 || options.classes > 0 || !options.input.empty()) {
    return invalid_input(
        "--features, --classes and --input belong to --zoo; an ONNX file brings its own shapes");
  }
  TRY(const auto file, models::read_onnx(options.onnx));
  auto model = models::import_model(file, models::standard_operators(), {options.output, options.frozen});
  if (!model.ok()) return at(options.onnx, model.error());
  model->name = std::filesystem::path(options.onnx).stem().string();
  return model;
}

Result<Loss> loss_of(const ModelBuildOptions& options) {
  if (!options.onnx.empty()) return parse_loss(options.loss);
  for (const models::ZooEntry& entry : models::zoo()) {
    if (options.zoo != entry.name) continue;
    if (!options.loss.empty() && options.loss != to_string(entry.loss)) {
      return invalid_input("model '" + options.zoo + "' is trained with --loss " +
                           std::string(to_string(entry.loss)) + ", not " + options.loss);
    }
    return entry.loss;
  }
  return not_found("there is no model '" + options.zoo + "' in the zoo");
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
  TRY(const Loss loss, loss_of(options));
  TRY(auto model, options.onnx.empty() ? zoo_model(options) : imported_model(options));
  if (!options.name.empty()) model.name = options.name;
  models::PackageOptions settings;
  settings.loss = loss;
  settings.ops = options.ops == "standard" ? models::OpsFlavor::kStandard : models::OpsFlavor::kFused;
  settings.evaluation =
      options.evaluation == "stored" ? models::NormStatistics::kStored : models::NormStatistics::kBatch;
  auto built = models::build_package(model, settings);
  if (!built.ok()) return options.onnx.empty() ? built.error() : at(options.onnx, built.error());
  TRY_STATUS(write_model_package(built->package, options.folder, options.force));
  report(options, *built);
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
