#include "tools/aflguard/model/model_run.h"

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/learning/data/npy.h"
#include "core/learning/data/shape.h"
#include "core/learning/model_package.h"
#include "models/finite_differences.h"
#include "models/model_arrays.h"
#include "models/predict.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;

Json describe(const ModelPackage& package) {
  const ModelDescription& model = package.description;
  Json document = {
      {"schema", "aflguard.model.info/1"}, {"name", model.name}, {"dimension", model.dimension()}};
  document["input_shape"] = model.input_shape;
  document["input_type"] = to_string(model.input_type);
  if (model.input_type == InputType::kInt64) document["input_ids"] = model.input_ids;
  document["output_shape"] = model.output_shape;
  document["classes"] = model.classes();
  if (!model.class_names.empty()) document["class_names"] = model.class_names;
  document["loss"] = to_string(model.loss);
  document["hash"] = model.hash;
  document["opset"] = model.opset;
  document["fused"] = !package.fused_train_graph.empty();
  document["stored_start"] = !package.initial.empty();
  document["statistics"] = model.statistics;
  document["calibration_samples"] = package.calibration.size() / model.input_size();
  if (!model.scaling.empty()) {
    document["scaling"] = {{"means", model.scaling.means}, {"deviations", model.scaling.deviations}};
  }
  for (const Parameter& p : model.parameters) {
    document["parameters"].push_back({{"name", p.name}, {"shape", p.shape}, {"offset", p.offset}});
  }
  return document;
}

}  // namespace

Status show_model(const ModelRunOptions& options) {
  TRY(const ModelPackage package, read_model_package(options.folder));
  const Json document = describe(package);
  if (options.json) {
    std::printf("%s\n", document.dump(2).c_str());
    return {};
  }
  const ModelDescription& model = package.description;
  const std::string ids = model.input_type == InputType::kInt64
                              ? " of ids below " + std::to_string(model.input_ids)
                              : std::string();
  std::printf("%s: %zu parameters, input %s%s, output %s, loss %s\n", model.name.c_str(), model.dimension(),
              shape_text(model.input_shape).c_str(), ids.c_str(), shape_text(model.output_shape).c_str(),
              std::string(to_string(model.loss)).c_str());
  std::printf("layout %s, opset %d, graphs: standard%s\n", model.hash.c_str(), model.opset,
              package.fused_train_graph.empty() ? "" : " and fused");
  if (!model.class_names.empty()) {
    std::string names;
    for (const std::string& name : model.class_names) names += (names.empty() ? "" : ", ") + name;
    std::printf("classes %s\n", names.c_str());
  }
  if (!model.scaling.empty()) std::printf("input is standardised with means and deviations in the package\n");
  if (model.statistics > 0) {
    std::printf("normalisation statistics: %zu, measured on %zu calibration samples of the package\n",
                model.statistics, package.calibration.size() / model.input_size());
  }
  std::printf("%10s  %-20s %s\n", "offset", "shape", "name");
  for (const Parameter& p : model.parameters) {
    std::printf("%10zu  %-20s %s\n", p.offset, shape_text(p.shape).c_str(), p.name.c_str());
  }
  return {};
}

Status initialize_theta(const ModelRunOptions& options) {
  TRY(const ModelPackage package, read_model_package(options.folder));
  TRY(const auto theta, initial_theta(package, options.seed));
  TRY_STATUS(write_npy(options.output, theta, {theta.size()}, package.description.hash));
  if (options.json) {
    const Json document = {{"schema", "aflguard.model.init/1"},
                           {"theta", options.output},
                           {"dimension", theta.size()},
                           {"seed", options.seed},
                           {"hash", package.description.hash}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("%s: %zu parameters of %s\n", options.output.c_str(), theta.size(),
                package.description.name.c_str());
  }
  return {};
}

Status compute_gradient(const ModelRunOptions& options) {
  TRY(ModelPackage package, read_model_package(options.folder));
  const ModelDescription model = package.description;
  TRY(const auto theta, models::read_theta(options.theta, model));
  TRY(const models::Samples samples, models::read_samples(options.x, model));
  TRY(const models::Targets targets, models::read_targets(options.y, model, samples.count));
  TRY(auto trainer, load_trainer(std::move(package), options.threads, options.ops));
  std::vector<float> gradient(model.dimension());
  const Batch batch{samples.count, samples.features, targets.labels, targets.values};
  TRY(const float loss, trainer->gradient(theta, batch, gradient));
  TRY_STATUS(write_npy(options.output, gradient, {gradient.size()}, model.hash));
  if (options.json) {
    const Json document = {{"schema", "aflguard.model.gradient/1"},
                           {"loss", loss},
                           {"samples", samples.count},
                           {"dimension", gradient.size()},
                           {"gradient", options.output}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("loss %.9g over %zu samples; gradient in %s\n", static_cast<double>(loss), samples.count,
                options.output.c_str());
  }
  return {};
}

Status predict(const ModelRunOptions& options) {
  TRY(ModelPackage package, read_model_package(options.folder));
  const ModelDescription model = package.description;
  TRY(const auto theta, models::read_theta(options.theta, model));
  TRY(const models::Samples samples, models::read_samples(options.x, model));
  TRY(auto trainer, load_trainer(std::move(package), options.threads, options.ops));
  TRY(const auto outputs, models::predict(*trainer, theta, samples, options.batch));
  std::vector<std::size_t> shape{samples.count};
  shape.insert(shape.end(), model.output_shape.begin(), model.output_shape.end());
  TRY_STATUS(write_npy(options.output, outputs, shape));
  if (options.json) {
    const Json document = {
        {"schema", "aflguard.model.predict/1"}, {"samples", samples.count}, {"logits", options.output}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("%s: outputs %s\n", options.output.c_str(), shape_text(shape).c_str());
  }
  return {};
}

Status check_model(const ModelRunOptions& options) {
  TRY(ModelPackage package, read_model_package(options.folder));
  TRY(auto theta, initial_theta(package, options.seed));
  TRY(auto trainer, load_trainer(std::move(package), options.threads, options.ops));
  const std::size_t batch = options.batch == 0 ? 8 : options.batch;
  TRY(const auto result, models::check_gradient(*trainer, std::move(theta), batch, options.seed));
  const bool good = result.worst_error <= options.tolerance;
  if (options.json) {
    const Json document = {{"schema", "aflguard.model.check/1"},
                           {"worst_relative_error", result.worst_error},
                           {"worst_parameter", result.worst_parameter},
                           {"tolerance", options.tolerance},
                           {"directions", result.directions},
                           {"loss", result.loss},
                           {"ok", good}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("worst relative error %.3g at '%s' (%zu derivatives compared, limit %g)\n",
                result.worst_error, result.worst_parameter.c_str(), result.directions, options.tolerance);
  }
  if (good) return {};
  return internal_error("the gradient of '" + result.worst_parameter + "' is off by " +
                        std::to_string(result.worst_error) + ", more than " +
                        std::to_string(options.tolerance));
}

}  // namespace aflguard::cli
