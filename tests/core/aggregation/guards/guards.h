#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/all_guards.h"
#include "core/aggregation/guards/async_sgd.h"
#include "core/aggregation/guards/basgd.h"
#include "core/aggregation/guards/kardam.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/aggregation/guards/sync_aflguard.h"
#include "core/aggregation/guards/zeno_plus_plus.h"

namespace aflguard::testing {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// An update of the newest model.
inline Verdict submit(Aggregator& to, ClientId client, const std::vector<float>& g) {
  return to.submit({client, to.model().version(), g}).value();
}

/// A reference update that tests choose themselves.
class FixedReference final : public ReferenceSource {
 public:
  explicit FixedReference(std::vector<float> vector) : vector_(std::move(vector)) {}

  [[nodiscard]] Status compute(std::span<const float> /*parameters*/, std::uint64_t version,
                               ReferenceUpdate& reference) override {
    ++computed;
    reference.version = version;
    reference.vector.assign(vector_.begin(), vector_.end());
    reference.per_class = RowBundle(1, vector_.size());
    reference.per_class.set_row(0, vector_);
    reference.derive();
    return {};
  }

  int computed = 0;

 private:
  std::vector<float> vector_;
};

inline std::unique_ptr<Guard> make(const GuardKind& kind, std::size_t dimension, std::uint64_t clients = 3,
                                   double lambda = 1.5) {
  GuardSettings settings;
  settings.dimension = dimension;
  settings.clients = clients;
  settings.lambda = lambda;
  return make_guard(kind, settings).value();
}

inline Aggregator aggregator(std::unique_ptr<Guard> guard, ReferenceSource& source,
                             const std::vector<float>& initial, double rate = 0.5) {
  AggregatorOptions options;
  options.learning_rate = rate;
  options.history = 16;
  return Aggregator(options, std::move(guard), &source, initial);
}

}  // namespace aflguard::testing
