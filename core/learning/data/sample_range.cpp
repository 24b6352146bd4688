#include "core/learning/data/sample_range.h"

#include <string>

namespace aflguard {

Result<SampleRange> SampleRange::within(std::size_t samples, std::string_view file) const {
  const std::string found = std::string(file) + " has " + std::to_string(samples) + " samples, ";
  if (first == 0 && count == kAll) return SampleRange{0, samples};
  if (first >= samples) return invalid_input(found + "first = " + std::to_string(first) + " leaves none");
  if (count == kAll) return SampleRange{first, samples - first};
  if (count > samples - first) {
    return invalid_input(found + "first = " + std::to_string(first) +
                         " and count = " + std::to_string(count) + " reach over its end");
  }
  return *this;
}

}  // namespace aflguard
