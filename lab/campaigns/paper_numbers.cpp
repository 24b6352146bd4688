#include "lab/campaigns/paper_numbers.h"

#include <algorithm>
#include <cmath>

namespace aflguard::lab {
namespace {

constexpr PaperNumber kNumbers[] = {
#include "lab/campaigns/paper_numbers.inc"
};

}  // namespace

std::string_view to_string(Metric metric) {
  switch (metric) {
    case Metric::kTestError:
      return "test_error";
    case Metric::kAttackSuccess:
      return "attack_success";
    case Metric::kMse:
      return "mse";
    case Metric::kMee:
      return "mee";
  }
  return "unknown";
}

std::string_view to_string(Agreement agreement) {
  switch (agreement) {
    case Agreement::kAgrees:
      return "agrees";
    case Agreement::kNear:
      return "near";
    case Agreement::kDiffers:
      return "differs";
  }
  return "unknown";
}

std::span<const PaperNumber> paper_numbers() {
  return kNumbers;
}

Agreement compare_with_paper(Metric metric, double ours, double paper, bool more_than) {
  if (more_than) return ours > paper ? Agreement::kAgrees : Agreement::kDiffers;
  // Half of the last printed digit is lost to rounding.
  const double difference = std::max(0.0, std::abs(ours - paper) - 0.005);
  if (metric == Metric::kTestError || metric == Metric::kAttackSuccess) {
    if (difference <= 0.02) return Agreement::kAgrees;
    return difference <= 0.05 ? Agreement::kNear : Agreement::kDiffers;
  }
  if (difference <= 0.15 * paper) return Agreement::kAgrees;
  return ours <= 2 * paper && ours >= paper / 2 ? Agreement::kNear : Agreement::kDiffers;
}

}  // namespace aflguard::lab
