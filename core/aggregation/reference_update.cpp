#include "core/aggregation/reference_update.h"

#include <cmath>
#include <numeric>

#include "core/aggregation/vector_kernels.h"
#include "core/learning/summed_gradient.h"

namespace aflguard {

TrustedSetReference::TrustedSetReference(Trainer& trainer, const Dataset& trusted, double sample_weight)
    : trainer_(trainer), sample_weight_(sample_weight) {
  std::vector<std::size_t> all(trusted.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  batch_ = buffer_.gather(trusted, all);
}

Status TrustedSetReference::compute(std::span<const float> parameters, std::uint64_t version,
                                    ReferenceUpdate& reference) {
  reference.vector.resize(parameters.size());
  if (auto loss = summed_gradient(trainer_, parameters, batch_, sample_weight_, reference.vector); !loss) {
    return at("reference update over " + std::to_string(batch_.size) + " trusted samples", loss.error());
  }
  reference.version = version;
  reference.norm = std::sqrt(squared_norm(reference.vector));
  return {};
}

}  // namespace aflguard
