#include "tools/aflguard/model/model_build.h"

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/learning/data/shape.h"
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
  TRY(const models::PackageRequest request, request_of(options));
  TRY(const models::BuiltPackage built, models::make_package(request));
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
