#include "core/learning/input_scaling.h"

#include <cmath>

namespace aflguard {

InputScaling measure_scaling(const Dataset& data) {
  const std::size_t width = data.sample_size();
  const auto samples = static_cast<double>(data.size());
  std::vector<double> means(width);
  std::vector<double> squares(width);
  std::vector<float> row(width);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data.copy_features(i, row);
    for (std::size_t j = 0; j < width; ++j) means[j] += static_cast<double>(row[j]) / samples;
  }
  // A second pass: with means far from zero the difference of two large sums would lose the digits.
  for (std::size_t i = 0; i < data.size(); ++i) {
    data.copy_features(i, row);
    for (std::size_t j = 0; j < width; ++j) {
      const double off = static_cast<double>(row[j]) - means[j];
      squares[j] += off * off / samples;
    }
  }
  InputScaling scaling;
  for (std::size_t j = 0; j < width; ++j) {
    const auto deviation = static_cast<float>(std::sqrt(squares[j]));
    scaling.means.push_back(static_cast<float>(means[j]));
    scaling.deviations.push_back(deviation > 0 ? deviation : 1);
  }
  return scaling;
}

}  // namespace aflguard
