#pragma once

#include <cstdint>

namespace aflguard::lab {

/// Stream numbers of Random(settings.seed, stream): one per purpose, so that, say, another attack does not
/// change which clients arrive when. 0 to 2 belong to the synthetic data.
enum Stream : std::uint64_t {
  kTrustedStream = 10,
  kPartitionStream = 11,
  kMaliciousStream = 12,
  kScheduleStream = 13,
  kBatchStream = 14,
  kAttackStream = 15,
  kInitialModelStream = 16,
  kRoundingStream = 17,
};

}  // namespace aflguard::lab
