#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/aggregation/guards/async_sgd.h"
#include "gateway_server/judging/update_judge.h"
#include "tests/gateway_server/judging/failing_store.h"
#include "tests/gateway_server/judging/fake_parts.h"

namespace aflguard::testing {

inline constexpr std::size_t kDimension = 3;

/// With this rate an accepted update moves the model by its value.
inline AggregatorOptions rate_one(std::uint64_t reference_interval = AggregatorOptions{}.reference_interval) {
  AggregatorOptions options;
  options.learning_rate = 1;
  options.reference_interval = reference_interval;
  return options;
}

inline ReferenceUpdate reference_of_ones(std::uint64_t version) {
  ReferenceUpdate reference;
  reference.version = version;
  reference.vector.assign(kDimension, 1);
  reference.derive();
  return reference;
}

/// A judge of the fleet "orchard" with its model, which starts at zero, and its store.
template <typename Store = FailingStore, typename Time = SetClock>
struct JudgeRig {
  explicit JudgeRig(std::unique_ptr<Guard> guard = std::make_unique<AsyncSgd>(),
                    const AggregatorOptions& options = rate_one(),
                    std::vector<gateway::DeviceRecord> known = {},
                    std::unique_ptr<RecordingWriter> recording = nullptr)
      : aggregator(options, std::move(guard), nullptr, std::vector<float>(kDimension)),
        judge("orchard", aggregator, store, std::move(known), std::move(recording), clock, log) {}

  Store store;
  Time clock;
  KeptLog log;
  Aggregator aggregator;
  gateway::UpdateJudge judge;
};

}  // namespace aflguard::testing
