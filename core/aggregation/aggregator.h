#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "core/aggregation/client_update.h"
#include "core/aggregation/global_model.h"
#include "core/aggregation/guard.h"
#include "core/aggregation/reference_update.h"
#include "core/base/result.h"
#include "core/verdict/verdict.h"

namespace aflguard {

struct AggregatorOptions {
  double learning_rate = 0;  ///< eta; positive
  /// tau_s: the reference is computed again whenever this many more updates were judged; 0 counts as 1.
  std::uint64_t reference_interval = 10;
  /// Updates on versions further back are rejected.
  std::uint64_t max_delay = std::numeric_limits<std::uint64_t>::max();
  /// Versions before the current one that stay readable. Guards that need base models reject updates on
  /// versions that are gone.
  std::size_t history = 0;
};

/// The model inside saved bytes, whatever guard was in force.
struct SavedModel {
  std::uint64_t iteration = 0;
  std::uint64_t version = 0;
  std::vector<float> parameters;
};

/// The heart of a gateway and of the lab: judges updates in the order they come and moves the global model.
/// No thread, no clock, no I/O: the same submissions give the same verdicts and the same model, bit for bit.
class Aggregator final {
 public:
  /// Version 0 of the model is `initial`. `source` is borrowed and must outlive the aggregator. It may be
  /// null: then references come from outside, through install_reference(), if the guard needs them at all.
  Aggregator(const AggregatorOptions& options, std::unique_ptr<Guard> guard, ReferenceSource* source,
             std::span<const float> initial);

  /// Judges one update, applies it if the guard says so, and counts it. Fails only when the reference
  /// cannot be computed or was never installed; then nothing has happened.
  [[nodiscard]] Result<Verdict> submit(const ClientUpdate& update);

  /// The reference that the next update will be compared with, computed now if it is due.
  /// kInvalidInput without a source.
  [[nodiscard]] Result<const ReferenceUpdate*> reference();

  /// For references from outside, which may be computed while updates are judged by the one before: true when
  /// another one should be computed from model().parameters() now.
  [[nodiscard]] bool reference_due() const;
  /// Later updates are compared with `reference`, which became due at iteration `due_since` (iteration() when
  /// its computation began). kInvalidInput when it is of another size, lacks the classes that the guard
  /// needs, or is of a version that does not exist yet.
  [[nodiscard]] Status install_reference(ReferenceUpdate reference, std::uint64_t due_since);
  /// The reference that updates are compared with now; null when there is none yet.
  [[nodiscard]] const ReferenceUpdate* installed_reference() const {
    return has_reference_ ? &reference_ : nullptr;
  }

  /// This client has left the fleet: guards that compare clients stop counting what it said.
  void forget(ClientId client) { guard_->forget(client); }

  /// Other options from now on, and, where `guard` is not null, another rule, which knows nothing yet. Model,
  /// iteration and reference stay; a reference without the classes that the new rule needs does not.
  void change(const AggregatorOptions& options, std::unique_ptr<Guard> guard);

  [[nodiscard]] const GlobalModel& model() const { return model_; }
  [[nodiscard]] const Guard& guard() const { return *guard_; }
  /// t: updates judged so far, rejected ones included.
  [[nodiscard]] std::uint64_t iteration() const { return iteration_; }

  /// Everything that later verdicts depend on: model and kept history, reference, iteration, guard state.
  [[nodiscard]] std::vector<std::byte> save() const;
  /// The same in two parts, for who saves often: the reference changes rarely and is as large as the model.
  [[nodiscard]] std::vector<std::byte> save_without_reference() const;
  /// Empty while there is no reference that is worth keeping.
  [[nodiscard]] std::vector<std::byte> save_reference() const;
  /// What save() gave, or both parts. kCorrupt, and nothing changes, when the bytes are damaged or belong to
  /// another model or guard, or the reference is not the one that the first part names.
  [[nodiscard]] Status restore(std::span<const std::byte> bytes, std::span<const std::byte> reference = {});

  /// What save() or save_without_reference() gave, without its guard: for an export, or to go on under
  /// another rule. kCorrupt when the bytes are damaged or the model has not `dimension` parameters.
  [[nodiscard]] static Result<SavedModel> read_model(std::span<const std::byte> bytes, std::size_t dimension);
  /// Goes on from that model with a guard that knows nothing yet. Its size is the model's.
  void start_from(const SavedModel& saved);

 private:
  /// The latest multiple of the reference interval.
  [[nodiscard]] std::uint64_t latest_due() const;
  enum class ReferencePlace : std::uint8_t { kNone, kInside, kApart };
  [[nodiscard]] std::vector<std::byte> save(ReferencePlace place) const;
  [[nodiscard]] bool reference_worth_keeping() const;
  [[nodiscard]] Verdict reject(Reason reason, std::uint64_t delay);
  [[nodiscard]] Verdict judge(const ClientUpdate& update, std::uint64_t delay);
  /// Moves the model as decided; turns the verdict into kOverflow when it cannot be moved.
  void apply(Decision& decision);

  AggregatorOptions options_;
  std::unique_ptr<Guard> guard_;
  GuardNeeds needs_;
  ReferenceSource* source_;
  GlobalModel model_;
  ReferenceUpdate reference_;
  std::uint64_t reference_iteration_ = 0;  ///< when reference_ was computed
  bool has_reference_ = false;
  std::uint64_t iteration_ = 0;
};

}  // namespace aflguard
