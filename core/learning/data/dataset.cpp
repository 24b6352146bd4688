#include "core/learning/data/dataset.h"

#include <cmath>
#include <type_traits>

#include "core/learning/data/shape.h"

namespace aflguard {

std::size_t Dataset::sample_size() const {
  return element_count(sample_shape);
}

Status Dataset::validate() const {
  const std::size_t wanted = size() * sample_size();
  const std::size_t have = std::visit([](const auto& v) { return v.size(); }, features);
  if (have != wanted) {
    return corrupt("data set '" + name + "' has " + std::to_string(have) + " feature values, " +
                   std::to_string(size()) + " samples of shape " + shape_text(sample_shape) + " need " +
                   std::to_string(wanted));
  }
  if (!subjects.empty() && subjects.size() != size()) {
    return corrupt("data set '" + name + "' has " + std::to_string(subjects.size()) + " subjects for " +
                   std::to_string(size()) + " samples");
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || static_cast<std::size_t>(labels[i]) >= classes) {
      return corrupt("data set '" + name + "': sample " + std::to_string(i) + " has label " +
                     std::to_string(labels[i]) + ", expected 0 to " + std::to_string(classes - 1));
    }
  }
  const auto first_non_finite = [](const std::vector<float>& numbers) {
    std::size_t i = 0;
    while (i < numbers.size() && std::isfinite(numbers[i])) ++i;
    return i;
  };
  if (const auto i = first_non_finite(values); i < values.size()) {
    return corrupt("data set '" + name + "': sample " + std::to_string(i) +
                   " has a value that is not finite");
  }
  if (const auto* floats = std::get_if<std::vector<float>>(&features)) {
    if (const auto i = first_non_finite(*floats); i < floats->size()) {
      return corrupt("data set '" + name + "': sample " + std::to_string(i / sample_size()) +
                     " has a feature that is not finite");
    }
  }
  return {};
}

void Dataset::copy_features(std::size_t index, std::span<float> out) const {
  const std::size_t width = sample_size();
  check(index < size() && out.size() == width, "sample index or buffer outside the data set");
  if (const auto* pixels = std::get_if<std::vector<std::uint8_t>>(&features)) {
    const std::uint8_t* from = pixels->data() + index * width;
    for (std::size_t i = 0; i < width; ++i) out[i] = static_cast<float>(from[i]) / 255.0F;
  } else {
    const float* from = std::get<std::vector<float>>(features).data() + index * width;
    std::copy(from, from + width, out.begin());
  }
}

Dataset Dataset::select(std::span<const std::size_t> indices) const {
  Dataset chosen{name, sample_shape, {}, {}, {}, {}, classes};
  const std::size_t width = sample_size();
  std::visit(
      [&](const auto& all) {
        std::decay_t<decltype(all)> some;
        some.reserve(indices.size() * width);
        for (const std::size_t i : indices) {
          check(i < size(), "sample index outside the data set");
          const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * width);
          some.insert(some.end(), first, first + static_cast<std::ptrdiff_t>(width));
        }
        chosen.features = std::move(some);
      },
      features);
  for (const std::size_t i : indices) {
    if (!labels.empty()) chosen.labels.push_back(labels[i]);
    if (!values.empty()) chosen.values.push_back(values[i]);
    if (!subjects.empty()) chosen.subjects.push_back(subjects[i]);
  }
  return chosen;
}

Batch BatchBuffer::gather(const Dataset& data, std::span<const std::size_t> indices) {
  const std::size_t width = data.sample_size();
  features_.resize(indices.size() * width);
  labels_.clear();
  values_.clear();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    data.copy_features(indices[i], std::span(features_).subspan(i * width, width));
    if (data.regression()) {
      values_.push_back(data.values[indices[i]]);
    } else {
      labels_.push_back(data.labels[indices[i]]);
    }
  }
  return {indices.size(), features_, labels_, values_};
}

}  // namespace aflguard
