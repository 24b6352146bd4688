#include "models/zoo/zoo.h"

#include <algorithm>

#include "core/learning/data/shape.h"

namespace aflguard::models {
namespace {

bool on_images(const ZooEntry& entry) {
  const std::string_view name = entry.name;
  return !name.ends_with("-regression");
}

Status check_options(const ZooEntry& entry, const ZooOptions& options) {
  const std::string name = entry.name;
  constexpr std::size_t kMax = 1'000'000;
  if (options.features && on_images(entry)) {
    return invalid_input("model '" + name + "' works on images: use --input CxHxW instead of --features");
  }
  if (!options.input_shape.empty() && !on_images(entry)) {
    return invalid_input("model '" + name +
                         "' works on feature vectors: use --features N instead of --input");
  }
  if (options.classes && entry.loss == Loss::kMeanSquaredError) {
    return invalid_input("model '" + name + "' predicts a number: it has no --classes");
  }
  if (options.features && (*options.features < 1 || *options.features > kMax)) {
    return invalid_input("--features is " + std::to_string(*options.features) + ", allowed are 1 to 1000000");
  }
  if (options.classes && (*options.classes < 2 || *options.classes > kMax)) {
    return invalid_input("--classes is " + std::to_string(*options.classes) + ", allowed are 2 to 1000000");
  }
  const auto& shape = options.input_shape;
  if (!shape.empty() &&
      (shape.size() != 3 || std::ranges::any_of(shape, [](std::size_t e) { return e < 1 || e > 65'536; }))) {
    return invalid_input("--input is " + shape_text(shape) + ", expected CxHxW, e.g. 1x64x64");
  }
  return {};
}

}  // namespace

const std::vector<ZooEntry>& zoo() {
  static const std::vector<ZooEntry> entries{
      {"linear-regression", "<u, theta> without intercept, mean squared error; --features (100)",
       Loss::kMeanSquaredError, build_linear_regression},
      {"logistic-regression", "one linear layer, cross-entropy; --features (561), --classes (6)",
       Loss::kCrossEntropy, build_logistic_regression},
      {"cnn", "the paper's convolutional network; --input (1x28x28), --classes (10)", Loss::kCrossEntropy,
       build_cnn},
      {"resnet20", "ResNet-20 with batch normalisation; --input (3x32x32), --classes (10)",
       Loss::kCrossEntropy, build_resnet20},
      {"resnet20-gn", "ResNet-20 with group normalisation, for fleets whose data differ; same options",
       Loss::kCrossEntropy, build_resnet20_group_norm},
  };
  return entries;
}

Result<const ZooEntry*> find_zoo_entry(std::string_view name) {
  std::string names;
  for (const ZooEntry& entry : zoo()) {
    if (name == entry.name) return &entry;
    names += std::string(names.empty() ? "" : ", ") + entry.name;
  }
  return not_found("there is no model '" + std::string(name) + "' in the zoo; it has " + names);
}

Result<ForwardModel> build_zoo_model(std::string_view name, const ZooOptions& options) {
  TRY(const ZooEntry* entry, find_zoo_entry(name));
  TRY_STATUS(check_options(*entry, options));
  auto model = entry->build(options);
  if (!model.ok()) return at("model '" + std::string(name) + "'", model.error());
  return model;
}

}  // namespace aflguard::models
