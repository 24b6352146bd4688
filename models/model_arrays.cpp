#include "models/model_arrays.h"

#include "core/base/short_text.h"
#include "core/learning/data/npy.h"
#include "core/learning/data/shape.h"

namespace aflguard::models {
namespace {

std::vector<std::size_t> batched(std::size_t count, const std::vector<std::size_t>& sample) {
  std::vector<std::size_t> shape{count};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

Error wrong_shape(const std::string& path, const NpyArray& array, const std::string& wanted) {
  return invalid_input(path + " has shape " + shape_text(array.shape) + ", the model wants " + wanted);
}

Result<std::vector<std::int64_t>> read_labels(const std::string& path, const NpyArray& array,
                                              const ModelDescription& model) {
  TRY(auto labels, array.as_int64(path));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= model.classes()) {
      return invalid_input(path + ": label " + std::to_string(labels[i]) + " of sample " + std::to_string(i) +
                           " is not a class; the model has " + std::to_string(model.classes()) + " (0 to " +
                           std::to_string(model.classes() - 1) + ")");
    }
  }
  return labels;
}

}  // namespace

Result<std::vector<float>> read_theta(const std::string& path, const ModelDescription& model) {
  TRY(const NpyArray array, read_npy(path));
  if (!array.layout_hash.empty() && array.layout_hash != model.hash) {
    return invalid_input(path + " was made for another model (layout " + short_hash(array.layout_hash) +
                         "), this package has layout " + short_hash(model.hash) +
                         "; make one for it with: aflguard model init");
  }
  TRY(auto theta, array.as_float32(path));
  if (array.shape != std::vector<std::size_t>{model.dimension()}) {
    return wrong_shape(path, array, "[" + std::to_string(model.dimension()) + "]");
  }
  return theta;
}

Result<Samples> read_samples(const std::string& path, const ModelDescription& model) {
  TRY(const NpyArray array, read_npy(path));
  const std::string wanted = "[B, " + shape_text(model.input_shape).substr(1);
  if (array.shape.empty() || array.shape != batched(array.shape.front(), model.input_shape)) {
    return wrong_shape(path, array, wanted);
  }
  if (array.shape.front() == 0) return invalid_input(path + " holds no samples");
  Samples samples;
  samples.count = array.shape.front();
  if (model.input_type == InputType::kInt64 && array.dtype == "<i8") {
    TRY(const auto ids, array.as_int64(path));
    samples.features.assign(ids.begin(), ids.end());
  } else {
    TRY(samples.features, array.as_float32(path));
  }
  TRY_STATUS(check_input_ids(model, samples.features, path));
  return samples;
}

Result<Targets> read_targets(const std::string& path, const ModelDescription& model, std::size_t count) {
  TRY(const NpyArray array, read_npy(path));
  Targets targets;
  const std::string samples = " (x has " + std::to_string(count) + " samples)";
  if (model.loss == Loss::kCrossEntropy) {
    if (array.shape != std::vector<std::size_t>{count}) {
      return wrong_shape(path, array, "int64 [" + std::to_string(count) + "]" + samples);
    }
    TRY(targets.labels, read_labels(path, array, model));
    return targets;
  }
  const bool one_each = model.output_size() == 1 && !array.shape.empty() && array.shape.front() == count &&
                        array.size() == count && array.shape.size() <= 2;
  const auto wanted = batched(count, model.output_shape);
  if (array.shape != wanted && !one_each)
    return wrong_shape(path, array, "float32 " + shape_text(wanted) + samples);
  TRY(targets.values, array.as_float32(path));
  return targets;
}

}  // namespace aflguard::models
