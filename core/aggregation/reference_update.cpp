#include "core/aggregation/reference_update.h"

#include <cmath>
#include <map>
#include <numeric>

#include "core/aggregation/vectors/span_kernels.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "core/learning/summed_gradient.h"

namespace aflguard {

void ReferenceUpdate::derive() {
  norm = std::sqrt(squared_norm(vector));
  gram = cross_products(per_class, per_class);
}

TrustedSetReference::TrustedSetReference(Trainer& trainer, const Dataset& trusted, double sample_weight,
                                         std::size_t class_batch)
    : trainer_(trainer), sample_weight_(sample_weight), class_batch_(class_batch) {
  std::map<std::int64_t, std::vector<std::size_t>> samples;
  for (std::size_t i = 0; i < trusted.size(); ++i) {
    samples[class_batch > 0 && !trusted.regression() ? trusted.labels[i] : 0].push_back(i);
  }
  for (const auto& [label, positions] : samples) {
    parts_.push_back(std::make_unique<Part>());
    parts_.back()->batch = parts_.back()->buffer.gather(trusted, positions);
  }
}

Status TrustedSetReference::compute(std::span<const float> parameters, std::uint64_t version,
                                    ReferenceUpdate& reference) {
  const std::size_t classes = class_batch_ > 0 ? parts_.size() : 0;
  if (reference.per_class.rows() != classes || reference.per_class.length() != parameters.size()) {
    reference.per_class = classes > 0 ? RowBundle(classes, parameters.size()) : RowBundle();
  }
  reference.vector.assign(parameters.size(), 0);
  sum_.resize(parameters.size());
  double losses = 0;
  double samples = 0;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const Batch& batch = parts_[part]->batch;
    const auto loss = summed_gradient(trainer_, parameters, batch, sample_weight_, sum_);
    if (!loss) {
      return at("reference update over " + std::to_string(batch.size) + " trusted samples", loss.error());
    }
    losses += *loss * static_cast<double>(batch.size);
    samples += static_cast<double>(batch.size);
    for (std::size_t i = 0; i < sum_.size(); ++i) reference.vector[i] += sum_[i];
    if (classes == 0) continue;
    const auto scale =
        static_cast<float>(static_cast<double>(class_batch_) / static_cast<double>(batch.size));
    for (float& coordinate : sum_) coordinate *= scale;
    reference.per_class.set_row(part, sum_);
  }
  reference.version = version;
  reference.loss = losses / samples;
  reference.derive();
  return {};
}

}  // namespace aflguard
