#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/envelope/replay_window.h"
#include "core/verdict/verdict.h"

namespace aflguard::gateway {

/// What the gateway remembers of one device. `id` is its number for guards and never changes.
struct DeviceRecord {
  ClientId id = 0;
  std::string name;
  ReplayWindow window;
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
  std::int64_t last_seen_ms = 0;  ///< wall clock, since 1970; information only

  friend bool operator==(const DeviceRecord&, const DeviceRecord&) = default;
};

/// One line of the model's history. `iteration` counts judged updates from 1; accepted ones that moved the
/// model raise `version` by exactly one.
struct VerdictRecord {
  std::uint64_t iteration = 0;
  ClientId device = 0;
  std::uint64_t sequence = 0;
  Verdict verdict;
  std::uint64_t base_version = 0;
  std::uint64_t version = 0;  ///< of the model after it
  std::int64_t time_ms = 0;

  friend bool operator==(const VerdictRecord&, const VerdictRecord&) = default;
};

struct EvaluationRecord {
  std::uint64_t iteration = 0;
  std::uint64_t version = 0;
  double test_error = 0;  ///< share of wrong classes; mean squared error for regression
  std::int64_t time_ms = 0;
};

/// A model that has just been taken up: nothing was judged on it yet.
struct ModelBeginning {
  std::uint64_t iteration = 0;  ///< updates judged so far, on the models before it
  std::uint64_t version = 0;    ///< its first one
  Bytes aggregator;             ///< as it was when the fleet left this model; empty: it is a new one
};

/// Everything a gateway starts from. Without `aggregator` the store is new.
struct StoredState {
  Bytes aggregator;   ///< Aggregator::save_without_reference(); save() in stores of older programs
  Bytes reference;    ///< Aggregator::save_reference()
  std::string guard;  ///< under which settings it was saved
  std::optional<ModelBeginning> beginning = {};  ///< without `aggregator`, after a change of the model
  std::vector<DeviceRecord> devices;
};

/// What becomes durable together, or not at all.
struct StoreCommit {
  std::span<const VerdictRecord> verdicts;
  std::span<const DeviceRecord> devices;  ///< new and changed ones
  std::uint64_t iteration = 0;
  std::uint64_t version = 0;
  std::span<const std::byte> aggregator;
  std::span<const std::byte> reference = {};  ///< empty: as it was
  std::string_view guard = {};                ///< rule and settings of `aggregator`; empty: as at the start
};

/// The gateway's memory. One thread uses it.
class GatewayStore {
 public:
  virtual ~GatewayStore() = default;
  [[nodiscard]] virtual Result<StoredState> load() = 0;
  /// On success everything survives a power loss; on failure nothing has changed and the same commit can be
  /// tried again.
  [[nodiscard]] virtual Status commit(const StoreCommit& commit) = 0;
  /// None when that update was never judged, or so long ago that its verdict was cleared away.
  [[nodiscard]] virtual Result<std::optional<VerdictRecord>> find_verdict(ClientId device,
                                                                          std::uint64_t sequence) = 0;
  /// Kept for plots; may be lost with the power.
  [[nodiscard]] virtual Status add_evaluation(const EvaluationRecord& evaluation) = 0;
};

}  // namespace aflguard::gateway
