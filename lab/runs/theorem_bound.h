#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/base/result.h"

namespace aflguard::lab {

/// What the paper's theorem needs to know, for the linear regression of its lemma (mu = L = 1).
struct BoundSettings {
  double lambda = 1.5;
  double learning_rate = 0.01;  ///< eta on MEAN gradients: the lab's rate times the batch size
  std::size_t dimension = 100;
  std::size_t trusted_size = 100;
  double beta = 0.05;            ///< the bound holds with probability 1 - beta
  double epsilon = 1;            ///< the theorem's free constant
  double initial_distance = 50;  ///< ||theta^0 - theta*||
  std::uint64_t iterations = 2000;
};

/// The theorem, evaluated. It says ||theta^t - theta*|| <= (1 - q)^t ||theta^0 - theta*|| + 4 eta Gamma
/// (lambda + 1) / q, which means something only for q > 0.
struct Bound {
  double q = 0;
  double q_without_sampling = 0;           ///< q with infinitely many trusted samples (Lambda = 0)
  double gamma = 0;                        ///< Gamma: sampling error of the gradient at theta*
  double capital_lambda = 0;               ///< Lambda: sampling error of gradient differences
  std::optional<double> after_iterations;  ///< the bound; missing when q <= 0
  std::optional<double> limit;             ///< ... for t to infinity
  /// The largest lambda for which q > 0 is possible at this rate, with infinitely many trusted samples.
  double largest_lambda = 0;
  /// The fewest trusted samples for which q > 0; missing when none suffices.
  std::optional<double> needed_trusted_size;
};

/// kInvalidInput when a number is out of the theorem's range (learning rate in (0, 1], beta in (0, 1), ...).
[[nodiscard]] Result<Bound> evaluate_bound(const BoundSettings& settings);

}  // namespace aflguard::lab
