#include "core/learning/model_description.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "core/base/sha256.h"
#include "core/learning/data/shape.h"

namespace aflguard {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kManifestVersion = 1;
constexpr int kManifestVersionWithIds = 2;  ///< older programs would feed such a model numbers
constexpr int kManifestVersionWithFunction = 3;
constexpr std::size_t kHashDigits = 64;
constexpr std::size_t kMaxParameters = 100'000;
constexpr std::size_t kMaxRank = 16;
constexpr std::size_t kMaxElements = std::size_t{1} << 32;

constexpr std::size_t kMaxClassName = 64;

Json scaling_json(const InputScaling& scaling) {
  return {{"means", scaling.means}, {"deviations", scaling.deviations}};
}

constexpr std::pair<Initializer, const char*> kInitializerNames[] = {
    {Initializer::kStored, "stored"},
    {Initializer::kZero, "zero"},
    {Initializer::kOne, "one"},
    {Initializer::kUniform, "uniform"},
};

Result<std::vector<std::size_t>> parse_shape(const Json& json, const std::string& what) {
  if (!json.is_array() || json.size() > kMaxRank) return corrupt("manifest: " + what + " is not a shape");
  std::vector<std::size_t> shape;
  std::size_t count = 1;
  for (const Json& item : json) {
    if (!item.is_number_unsigned())
      return corrupt("manifest: " + what + " has a dimension that is not a number");
    const auto extent = item.get<std::size_t>();
    if (extent == 0 || extent > kMaxElements / count) {
      return corrupt("manifest: " + what + " has the impossible dimension " + std::to_string(extent));
    }
    count *= extent;
    shape.push_back(extent);
  }
  return shape;
}

Result<Parameter> parse_parameter(const Json& json, std::size_t expected_offset) {
  Parameter parameter;
  parameter.name = json.at("name").get<std::string>();
  TRY(parameter.shape, parse_shape(json.at("shape"), "the shape of '" + parameter.name + "'"));
  parameter.offset = json.at("offset").get<std::size_t>();
  if (parameter.offset != expected_offset) {
    return corrupt("manifest: '" + parameter.name + "' starts at " + std::to_string(parameter.offset) +
                   ", expected " + std::to_string(expected_offset));
  }
  const auto kind = json.at("initializer").get<std::string>();
  for (const auto& [initializer, name] : kInitializerNames) {
    if (kind == name) {
      parameter.initializer = initializer;
      parameter.bound = json.value("bound", 0.0);
      return parameter;
    }
  }
  return corrupt("manifest: '" + parameter.name + "' has the unknown initializer '" + kind + "'");
}

Status parse_input(const Json& json, ModelDescription& model) {
  const std::string type = json.value("input_type", std::string(to_string(InputType::kFloat32)));
  if (type == to_string(InputType::kFloat32)) return {};
  if (type != to_string(InputType::kInt64))
    return unsupported("manifest: input_type is '" + type + "', this program knows float32 and int64");
  model.input_type = InputType::kInt64;
  model.input_ids = json.at("input_ids").get<std::int64_t>();
  if (model.input_ids >= 1 && model.input_ids <= kMaxInputIds) return {};
  return corrupt("manifest: input_ids is " + std::to_string(model.input_ids) + ", expected 1 to " +
                 std::to_string(kMaxInputIds));
}

/// Packages of older programs say nothing of the function, and keep their hash.
Result<std::string> parse_function(const Json& json, int version) {
  if (version < kManifestVersionWithFunction) return std::string();
  const auto function = json.at("function").get<std::string>();
  const bool digits = function.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (digits && function.size() == kHashDigits) return function;
  return corrupt("manifest: function is '" + function.substr(0, kHashDigits) + "', expected " +
                 std::to_string(kHashDigits) + " hexadecimal digits; build the package again");
}

int manifest_version(const ModelDescription& model) {
  if (!model.function.empty()) return kManifestVersionWithFunction;
  return model.input_type == InputType::kInt64 ? kManifestVersionWithIds : kManifestVersion;
}

Result<ModelDescription> parse_checked(const Json& json) {
  if (json.value("format", "") != "aflguard-model") return corrupt("manifest: this is not a model package");
  const int version = json.at("version").get<int>();
  if (version < kManifestVersion || version > kManifestVersionWithFunction) {
    return unsupported("manifest: version " + std::to_string(version) + ", this program reads versions " +
                       std::to_string(kManifestVersion) + " to " +
                       std::to_string(kManifestVersionWithFunction) +
                       "; install a newer version of this program, or build the package again");
  }
  ModelDescription model;
  model.name = json.at("name").get<std::string>();
  TRY(model.input_shape, parse_shape(json.at("input_shape"), "input_shape"));
  TRY(model.output_shape, parse_shape(json.at("output_shape"), "output_shape"));
  TRY(model.loss, parse_loss(json.at("loss").get<std::string>()));
  TRY_STATUS(parse_input(json, model));
  TRY(model.function, parse_function(json, version));
  model.opset = json.at("opset").get<int>();
  model.class_names = json.value("class_names", std::vector<std::string>());
  if (const auto scaling = json.find("scaling"); scaling != json.end()) {
    model.scaling.means = scaling->at("means").get<std::vector<float>>();
    model.scaling.deviations = scaling->at("deviations").get<std::vector<float>>();
  }
  model.statistics = json.value("statistics", std::size_t{0});
  if (model.statistics > kMaxElements) {
    return corrupt("manifest: " + std::to_string(model.statistics) + " statistics, at most " +
                   std::to_string(kMaxElements) + " are allowed");
  }
  if (const Status fits = check_names_and_scaling(model); !fits.ok()) return at("manifest", fits.error());
  const Json& parameters = json.at("parameters");
  if (!parameters.is_array() || parameters.empty() || parameters.size() > kMaxParameters) {
    return corrupt("manifest: parameters must be a list of 1 to " + std::to_string(kMaxParameters) +
                   " entries");
  }
  std::size_t offset = 0;
  for (const Json& item : parameters) {
    TRY(auto parameter, parse_parameter(item, offset));
    offset += parameter.size();
    if (offset > kMaxElements)
      return corrupt("manifest: more than " + std::to_string(kMaxElements) + " parameters");
    model.parameters.push_back(std::move(parameter));
  }
  model.hash = json.at("hash").get<std::string>();
  if (const std::string actual = layout_hash(model); model.hash != actual) {
    return corrupt("manifest: hash is " + model.hash + " but the layout gives " + actual +
                   "; the file was changed: build the package again");
  }
  return model;
}

}  // namespace

std::string_view to_string(Loss loss) {
  return loss == Loss::kCrossEntropy ? "cross-entropy" : "mse";
}

Result<Loss> parse_loss(std::string_view text) {
  if (text == "cross-entropy") return Loss::kCrossEntropy;
  if (text == "mse") return Loss::kMeanSquaredError;
  return invalid_input("unknown loss '" + std::string(text) + "'; use cross-entropy or mse");
}

std::string_view to_string(InputType type) {
  return type == InputType::kInt64 ? "int64" : "float32";
}

Status check_input_ids(const ModelDescription& model, std::span<const float> features,
                       const std::string& what) {
  if (model.input_type != InputType::kInt64) return {};
  const auto limit = static_cast<float>(model.input_ids);
  const auto odd = std::ranges::find_if(features, [limit](float value) {
    return !(value >= 0 && value < limit && value == std::floor(value));
  });
  if (odd == features.end()) return {};
  const auto place = static_cast<std::size_t>(odd - features.begin());
  const std::size_t width = std::max<std::size_t>(1, model.input_size());
  std::ostringstream text;
  text << what << ": number " << place % width << " of sample " << place / width << " is " << *odd
       << ", model '" << model.name << "' takes ids: whole numbers from 0 to " << model.input_ids - 1;
  return invalid_input(text.str());
}

std::size_t Parameter::size() const {
  return element_count(shape);
}

std::size_t ModelDescription::dimension() const {
  return parameters.empty() ? 0 : parameters.back().offset + parameters.back().size();
}
std::size_t ModelDescription::input_size() const {
  return element_count(input_shape);
}
std::size_t ModelDescription::output_size() const {
  return element_count(output_shape);
}
std::size_t ModelDescription::classes() const {
  return loss == Loss::kCrossEntropy && !output_shape.empty() ? output_shape.front() : 0;
}

std::string ModelDescription::class_name(std::size_t number) const {
  return number < class_names.size() ? class_names[number] : std::to_string(number);
}

Status check_names_and_scaling(const ModelDescription& model) {
  const auto& names = model.class_names;
  if (!names.empty() && names.size() != model.classes()) {
    return invalid_input(std::to_string(names.size()) + " class names, the model has " +
                         std::to_string(model.classes()) + " classes");
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    const bool plain = std::none_of(name.begin(), name.end(), [](char c) {
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ',' || c == '"';
    });
    if (name.empty() || name.size() > kMaxClassName || !plain || name.front() == ' ' || name.back() == ' ') {
      return invalid_input("class name '" + name.substr(0, kMaxClassName) + "' must be 1 to " +
                           std::to_string(kMaxClassName) +
                           " bytes without commas, quotes, control characters and blanks at its ends");
    }
    if (!seen.insert(name).second) return invalid_input("two classes have the name '" + name + "'");
  }
  const auto& [means, deviations] = model.scaling;
  if (means.empty() && deviations.empty()) return {};
  if (means.size() != model.input_size() || deviations.size() != means.size()) {
    return invalid_input("scaling has " + std::to_string(means.size()) + " means and " +
                         std::to_string(deviations.size()) + " deviations, the model has " +
                         std::to_string(model.input_size()) + " features");
  }
  const bool good =
      std::all_of(means.begin(), means.end(), [](float v) { return std::isfinite(v); }) &&
      std::all_of(deviations.begin(), deviations.end(), [](float v) { return std::isfinite(v) && v > 0; });
  if (good) return {};
  return invalid_input("scaling needs finite means, and deviations that are finite and above 0");
}

std::string layout_hash(const ModelDescription& model) {
  Json layout;
  for (const Parameter& p : model.parameters) layout["parameters"].push_back({p.name, p.shape, p.offset});
  layout["input_shape"] = model.input_shape;
  layout["output_shape"] = model.output_shape;
  layout["loss"] = to_string(model.loss);
  if (!model.function.empty()) layout["function"] = model.function;
  if (!model.class_names.empty()) layout["class_names"] = model.class_names;
  if (!model.scaling.empty()) layout["scaling"] = scaling_json(model.scaling);
  return sha256_hex(layout.dump());
}

std::string manifest_json(const ModelDescription& model) {
  Json json;
  json["format"] = "aflguard-model";
  json["version"] = manifest_version(model);
  json["name"] = model.name;
  json["hash"] = model.hash;
  if (!model.function.empty()) json["function"] = model.function;
  json["dimension"] = model.dimension();
  json["input_shape"] = model.input_shape;
  json["output_shape"] = model.output_shape;
  if (model.input_type == InputType::kInt64) {
    json["input_type"] = to_string(model.input_type);
    json["input_ids"] = model.input_ids;
  }
  json["loss"] = to_string(model.loss);
  json["opset"] = model.opset;
  if (!model.class_names.empty()) json["class_names"] = model.class_names;
  if (!model.scaling.empty()) json["scaling"] = scaling_json(model.scaling);
  if (model.statistics > 0) json["statistics"] = model.statistics;
  for (const Parameter& p : model.parameters) {
    Json item = {{"name", p.name}, {"shape", p.shape}, {"offset", p.offset}};
    for (const auto& [initializer, name] : kInitializerNames) {
      if (p.initializer == initializer) item["initializer"] = name;
    }
    if (p.initializer == Initializer::kUniform) item["bound"] = p.bound;
    json["parameters"].push_back(std::move(item));
  }
  return json.dump(2) + "\n";
}

Result<ModelDescription> parse_manifest(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return corrupt("manifest: not a JSON object; build the package again");
  try {
    return parse_checked(json);
  } catch (const Json::exception& problem) {
    return corrupt(std::string("manifest: ") + problem.what());
  }
}

}  // namespace aflguard
