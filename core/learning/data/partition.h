#pragma once

#include <cstddef>
#include <vector>

#include "core/base/random.h"
#include "core/base/result.h"
#include "core/learning/data/dataset.h"

namespace aflguard {

/// For each client, the indices of its training samples. A client may have none.
using Shares = std::vector<std::vector<std::size_t>>;

/// Every sample to one client, in shares that differ by at most one.
[[nodiscard]] Shares share_iid(std::size_t samples, std::size_t clients, Random& random);

/// Fang et al.: as many groups of clients as classes; a sample of label l goes to group l with probability
/// `q`, otherwise to one of the other groups, and there to a uniformly drawn client.
[[nodiscard]] Shares share_by_label(const Dataset& data, std::size_t clients, double q, Random& random);

/// Training and test part, and one share per subject, in the order of their numbers.
struct SubjectSplit {
  std::vector<std::size_t> train;  ///< sample indices
  std::vector<std::size_t> test;
  Shares shares;  ///< positions within `train`
};

/// Of each subject's samples, a random `train_fraction` is for training, the rest for testing.
/// kInvalidInput when the data has no subjects.
[[nodiscard]] Result<SubjectSplit> split_per_subject(const Dataset& data, double train_fraction,
                                                     Random& random);

/// The samples at `indices`, in that order.
[[nodiscard]] Dataset subset(const Dataset& data, const std::vector<std::size_t>& indices);

}  // namespace aflguard
