#include "lab/tasks/trusted_set.h"

#include <cmath>
#include <numeric>

#include "core/learning/data/partition.h"

namespace aflguard::lab {
namespace {

Status draw(const std::vector<std::size_t>& from, std::size_t count, const std::string& what, Random& random,
            std::vector<std::size_t>& chosen) {
  if (count > from.size()) {
    return invalid_input("the trusted set needs " + std::to_string(count) + " samples of " + what +
                         ", the training data has " + std::to_string(from.size()) +
                         "; choose a smaller trusted size");
  }
  for (const std::size_t i : random.sample_without_replacement(from.size(), count)) chosen.push_back(from[i]);
  return {};
}

}  // namespace

Result<Dataset> draw_trusted_set(const Dataset& train, std::size_t size, double shift, Random& random) {
  std::vector<std::size_t> chosen;
  if (train.regression()) {  // no classes to shift between
    std::vector<std::size_t> all(train.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    TRY_STATUS(draw(all, size, "any value", random, chosen));
    return subset(train, chosen);
  }
  std::vector<std::size_t> first;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < train.size(); ++i) (train.labels[i] == 0 ? first : others).push_back(i);
  const auto of_first = static_cast<std::size_t>(std::llround(shift * static_cast<double>(size)));
  TRY_STATUS(draw(first, of_first, "the first class", random, chosen));
  TRY_STATUS(draw(others, size - of_first, "the other classes", random, chosen));
  return subset(train, chosen);
}

}  // namespace aflguard::lab
