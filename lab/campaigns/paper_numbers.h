#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aflguard::lab {

enum class Metric : std::uint8_t { kTestError, kAttackSuccess, kMse, kMee };

[[nodiscard]] std::string_view to_string(Metric metric);  // "test_error", "attack_success", "mse", "mee"

/// One number of the paper's tables. Its mean squared errors are on the paper's scale (plain ones / 32).
struct PaperNumber {
  std::string_view table;  ///< "1", "2a", ...
  std::string_view dataset;
  double distribution_shift;  ///< -1 where the table does not vary it
  std::string_view attack;    ///< "adapt" for the adaptive one
  std::string_view guard;
  Metric metric;
  double value;
  bool more_than;  ///< printed as "> value"
};

[[nodiscard]] std::span<const PaperNumber> paper_numbers();

/// How a measured number compares with a printed one. Test errors and success rates: within 0.02 and within
/// 0.05; regression errors: within 15 % and within a factor of 2; "> 1000" agrees with whatever is.
enum class Agreement : std::uint8_t { kAgrees, kNear, kDiffers };

[[nodiscard]] std::string_view to_string(Agreement agreement);  // "agrees", "near", "differs"
[[nodiscard]] Agreement compare_with_paper(Metric metric, double ours, double paper, bool more_than);

}  // namespace aflguard::lab
