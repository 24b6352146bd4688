#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway_server/judging/gateway_store.h"

namespace aflguard::gateway {

/// What one device has sent so far.
struct DeviceTally {
  ClientId id = 0;
  std::string name;
  std::uint64_t accepted = 0;
  std::uint64_t rejected = 0;
};

/// How far a gateway is, at one moment.
struct FleetProgress {
  std::uint64_t iteration = 0;  ///< updates judged
  std::uint64_t version = 0;    ///< of the model
  std::vector<DeviceTally> devices;
  std::optional<EvaluationRecord> evaluation;  ///< the latest
};

/// A gateway's store, read beside it while it runs or afterwards. Changes nothing.
class StoreReader final {
 public:
  /// kNotFound when there is no store yet.
  [[nodiscard]] static Result<StoreReader> open(const std::filesystem::path& file);
  StoreReader(StoreReader&&) noexcept;
  StoreReader& operator=(StoreReader&&) noexcept;
  ~StoreReader();

  [[nodiscard]] Result<FleetProgress> progress();
  /// In order. Verdicts that the gateway has cleared away are missing.
  [[nodiscard]] Result<std::vector<VerdictRecord>> verdicts();
  [[nodiscard]] Result<std::vector<EvaluationRecord>> evaluations();
  /// The iterations after which the fleet trained another model, in order.
  [[nodiscard]] Result<std::vector<std::uint64_t>> model_changes();

 private:
  struct State;
  explicit StoreReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace aflguard::gateway
