#include "core/learning/model_package.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/random.h"
#include "core/base/sha256.h"
#include "core/learning/data/npy.h"
#include "core/system/atomic_file.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kManifest = "manifest.json";
constexpr const char* kInitial = "initial.npy";
constexpr const char* kCalibration = "calibration.npy";
constexpr std::uint64_t kMaxGraph = std::uint64_t{1} << 28;

struct GraphFile {
  const char* name;
  std::string ModelPackage::*content;
  bool required;
};
constexpr GraphFile kGraphs[] = {
    {"train.onnx", &ModelPackage::train_graph, true},
    {"train_fused.onnx", &ModelPackage::fused_train_graph, false},
    {"eval.onnx", &ModelPackage::eval_graph, true},
    {"inference.onnx", &ModelPackage::inference_graph, false},
};

std::string checksum(std::span<const float> values) {
  return sha256_hex(std::as_bytes(values));
}

Error changed(const fs::path& file) {
  return corrupt(file.string() + " is not the file that the manifest describes (truncated or changed); " +
                 "build the package again");
}

Status read_graph(const fs::path& folder, const GraphFile& file, const Json& checksums,
                  ModelPackage& package) {
  const auto expected = checksums.find(file.name);
  if (expected == checksums.end()) {
    if (!file.required) return {};
    return corrupt((folder / kManifest).string() + ": lists no " + file.name + "; build the package again");
  }
  auto content = read_text_file(folder / file.name, kMaxGraph);
  if (!content.ok()) {
    return corrupt("model package is incomplete: " + content.error().message + "; build the package again");
  }
  if (*expected != Json(sha256_hex(*content))) return changed(folder / file.name);
  package.*file.content = std::move(content).value();
  return {};
}

Status read_initial(const fs::path& folder, const Json& checksums, ModelPackage& package) {
  const auto expected = checksums.find(kInitial);
  if (expected == checksums.end()) return {};
  TRY(const auto array, read_npy(folder / kInitial));
  TRY(package.initial, array.as_float32((folder / kInitial).string()));
  if (*expected != Json(checksum(package.initial)) ||
      package.initial.size() != package.description.dimension()) {
    return changed(folder / kInitial);
  }
  return {};
}

Status read_calibration(const fs::path& folder, const Json& checksums, ModelPackage& package) {
  const auto expected = checksums.find(kCalibration);
  if (expected == checksums.end()) return {};
  TRY(const auto array, read_npy(folder / kCalibration));
  TRY(package.calibration, array.as_float32((folder / kCalibration).string()));
  if (*expected == Json(checksum(package.calibration)) &&
      package.calibration.size() % package.description.input_size() == 0) {
    return {};
  }
  return changed(folder / kCalibration);
}

/// Replacing removes what was there: a mistyped path must not delete other files.
Status check_replaceable(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder, ignored) || fs::is_regular_file(folder / kManifest, ignored)) return {};
  if (fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored)) return {};
  return invalid_input(folder.string() +
                       " is not a model package and is not replaced; choose another folder");
}

}  // namespace

Status write_model_package(const ModelPackage& package, const fs::path& folder, bool replace) {
  if (replace) TRY_STATUS(check_replaceable(folder));
  TRY(auto staged, StagedDirectory::create(folder, replace));
  Json manifest = Json::parse(manifest_json(package.description));
  Json checksums;
  for (const GraphFile& file : kGraphs) {
    const std::string& content = package.*file.content;
    if (content.empty()) continue;
    TRY_STATUS(write_file_atomically(staged.path() / file.name, content));
    checksums[file.name] = sha256_hex(content);
  }
  if (!package.initial.empty()) {
    TRY_STATUS(write_npy(staged.path() / kInitial, package.initial, {package.initial.size()},
                         package.description.hash));
    checksums[kInitial] = checksum(package.initial);
  }
  if (!package.calibration.empty()) {
    const std::size_t width = package.description.input_size();
    TRY_STATUS(write_npy(staged.path() / kCalibration, package.calibration,
                         {package.calibration.size() / width, width}));
    checksums[kCalibration] = checksum(package.calibration);
  }
  manifest["files"] = checksums;
  TRY_STATUS(write_file_atomically(staged.path() / kManifest, manifest.dump(2) + "\n"));
  return staged.commit();
}

Result<ModelPackage> read_model_package(const fs::path& folder) {
  const fs::path manifest_path = folder / kManifest;
  auto text = read_text_file(manifest_path, kMaxGraph);
  if (!text.ok()) {
    return not_found(folder.string() + " is not a model package (" + text.error().message +
                     "); make one with: aflguard model build");
  }
  auto description = parse_manifest(*text);
  if (!description.ok()) return at(manifest_path.string(), description.error());
  ModelPackage package;
  package.description = std::move(description).value();
  const Json manifest = Json::parse(*text);
  const auto checksums = manifest.find("files");
  if (checksums == manifest.end() || !checksums->is_object()) {
    return corrupt(manifest_path.string() + ": lists no files; build the package again");
  }
  for (const GraphFile& file : kGraphs) TRY_STATUS(read_graph(folder, file, *checksums, package));
  TRY_STATUS(read_initial(folder, *checksums, package));
  TRY_STATUS(read_calibration(folder, *checksums, package));
  return package;
}

Result<std::vector<float>> initial_theta(const ModelPackage& package, std::uint64_t seed) {
  const ModelDescription& model = package.description;
  std::vector<float> theta(model.dimension());
  Random random(seed);
  for (const Parameter& parameter : model.parameters) {
    const auto values = std::span(theta).subspan(parameter.offset, parameter.size());
    switch (parameter.initializer) {
      case Initializer::kZero:
        break;
      case Initializer::kOne:
        std::fill(values.begin(), values.end(), 1.0F);
        break;
      case Initializer::kUniform:
        for (float& value : values)
          value = static_cast<float>(random.uniform(-parameter.bound, parameter.bound));
        break;
      case Initializer::kStored:
        if (package.initial.size() != theta.size()) {
          return corrupt("model '" + model.name + "': '" + parameter.name +
                         "' starts from a stored value, but " +
                         "the package has no initial.npy; build the package again");
        }
        std::copy_n(package.initial.begin() + static_cast<std::ptrdiff_t>(parameter.offset), values.size(),
                    values.begin());
        break;
    }
  }
  return theta;
}

}  // namespace aflguard
