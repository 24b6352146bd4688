#include "models/package_request.h"

#include "models/onnx_file/onnx_file.h"
#include "models/onnx_file/separate_tensors.h"

namespace aflguard::models {
namespace {

bool has_options(const ZooOptions& options) {
  return options.features || options.classes || !options.input_shape.empty();
}

Result<Loss> loss_of(const PackageRequest& request) {
  if (request.zoo.empty()) {
    if (!request.loss) return invalid_input("a model in an ONNX file needs --loss cross-entropy or mse");
    return *request.loss;
  }
  TRY(const ZooEntry* entry, find_zoo_entry(request.zoo));
  if (request.loss && *request.loss != entry->loss) {
    return invalid_input("model '" + request.zoo + "' is trained with --loss " +
                         std::string(to_string(entry->loss)) + ", not " +
                         std::string(to_string(*request.loss)));
  }
  return entry->loss;
}

Result<ForwardModel> imported_model(const PackageRequest& request) {
  if (has_options(request.zoo_options)) {
    return invalid_input(
        "--features, --classes and --input belong to --zoo; an ONNX file brings its own shapes");
  }
  TRY(OnnxModel file, read_onnx(request.onnx));
  const auto separated = separate_equal_tensors(file);
  auto model = import_model(file, standard_operators(), request.import);
  if (!model.ok()) return at(request.onnx.string(), model.error());
  if (!separated.empty()) {
    std::string names;
    for (const std::string& name : separated) {
      if (names.size() < 200) names += (names.empty() ? "" : ", ") + name;
    }
    model->notes.push_back(
        std::to_string(separated.size()) +
        " tensors that the exporter had merged with equal ones are separate again: " + names);
  }
  model->name = request.onnx.stem().string();
  return model;
}

}  // namespace

Result<BuiltPackage> make_package(const PackageRequest& request) {
  TRY(const Loss loss, loss_of(request));
  const bool from_zoo = !request.zoo.empty();
  TRY(ForwardModel model,
      from_zoo ? build_zoo_model(request.zoo, request.zoo_options) : imported_model(request));
  if (!request.name.empty()) model.name = request.name;
  PackageOptions options{.loss = loss, .ops = request.ops, .evaluation = request.evaluation};
  if (request.add_facts) TRY_STATUS(request.add_facts(describe_shapes(model, loss), options));
  auto built = build_package(model, options);
  if (!built.ok() && !from_zoo) return at(request.onnx.string(), built.error());
  return built;
}

}  // namespace aflguard::models
