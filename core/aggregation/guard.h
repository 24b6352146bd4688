#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/aggregation/reference_update.h"
#include "core/base/result.h"
#include "core/verdict/verdict.h"

namespace aflguard {

/// What a guard wants to see. The aggregator provides it before judge() is called, or does not call it.
struct GuardNeeds {
  bool reference = false;            ///< the reference update
  bool reference_per_class = false;  ///< ... and its parts per class
  bool base_model = false;           ///< the parameters that the update was computed on
  /// Updates between two changes of the model; more than 1 for synchronous rules, whose clients all answer
  /// the same version.
  std::uint64_t round = 1;
  bool votes = false;  ///< clients are compared with each other: those who left should be forgotten
};

/// One update with everything a guard may look at. All spans have the model's dimension and live for the
/// call.
struct Submission {
  ClientId client = 0;
  std::uint64_t base_version = 0;
  std::uint64_t delay = 0;                     ///< model versions since base_version
  std::span<const float> vector;               ///< unchecked: may hold NaN or infinities
  std::span<const float> base_model;           ///< empty unless GuardNeeds::base_model
  const ReferenceUpdate* reference = nullptr;  ///< null unless GuardNeeds::reference

  // The model, for guards that judge and step in one pass.
  std::span<const float> parameters;  ///< current theta
  std::span<float> next;  ///< may be filled with theta - rate * (something); see Decision::wrote_next
  float rate = 0;         ///< global learning rate eta
};

/// A verdict and what happens to the model: nothing, one step of theta -= eta * scale * direction, or the
/// parameters that the guard has already written into Submission::next.
struct Decision {
  Verdict verdict;                   ///< `delay` is filled in by the aggregator
  std::span<const float> direction;  ///< empty: no step; owned by the submission or by the guard
  double scale = 1;
  bool wrote_next = false;  ///< next already holds the stepped parameters; direction is ignored
  double step_norm = 0;     ///< at least ||scale * direction||; guards against overflow of theta
};

/// The rule that judges updates one at a time. Holds all state that it decides by; has no clock and no
/// thread. A vector with a NaN or an infinity must be rejected and must leave no trace in the state.
class Guard {
 public:
  virtual ~Guard() = default;

  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual GuardNeeds needs() const { return {}; }
  [[nodiscard]] virtual Decision judge(const Submission& submission) = 0;

  /// This client has left: what it said counts no longer. Unknown clients are not an error.
  virtual void forget(ClientId /*client*/) {}

  /// The same rule in the same state, to try updates on; null when the rule cannot be copied.
  [[nodiscard]] virtual std::unique_ptr<Guard> copy() const { return nullptr; }

  /// The state as bytes, and back. restore() refuses bytes of another guard, version or dimension and
  /// whatever is cut short (kCorrupt); the guard is then as it was.
  [[nodiscard]] virtual std::vector<std::byte> save() const = 0;
  [[nodiscard]] virtual Status restore(std::span<const std::byte> bytes) = 0;
};

}  // namespace aflguard
