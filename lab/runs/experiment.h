#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/aggregation/guard_kind.h"
#include "core/base/result.h"
#include "core/learning/trainer.h"
#include "lab/attacks/attack.h"
#include "lab/runs/metrics.h"
#include "lab/tasks/experiment_data.h"
#include "lab/tasks/settings.h"

namespace aflguard::lab {

/// The guards and attacks that experiments choose from.
struct Catalog {
  std::vector<GuardKind> guards;
  std::vector<AttackKind> attacks;
};

/// all_guards() and all_attacks().
[[nodiscard]] Catalog full_catalog();

/// The model under test. Each run gets its own Trainer, because a Trainer belongs to one thread.
struct ModelSource {
  std::function<Result<std::unique_ptr<Trainer>>()> make_trainer;
  std::function<Result<std::vector<float>>(std::uint64_t seed)> initial;  ///< theta^0
};

struct ClientCounts {
  std::uint64_t honest = 0;
  std::uint64_t malicious = 0;
  friend bool operator==(const ClientCounts&, const ClientCounts&) = default;
};

struct ExperimentResult {
  Metrics metrics;
  ClientCounts accepted;
  ClientCounts rejected;
  std::uint64_t iterations = 0;
  double judging_seconds = 0;  ///< CPU time of the guard and the model's steps; not part of the result
  friend bool operator==(const ExperimentResult& a, const ExperimentResult& b) {
    return a.metrics == b.metrics && a.accepted == b.accepted && a.rejected == b.rejected &&
           a.iterations == b.iterations;
  }
};

/// Told how far a run is, now and then, from the run's own thread.
using RunProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Shown each honest update as it arrives, and the model after its verdict. They live until it returns.
using RunObserver = std::function<void(std::span<const float> update, std::span<const float> model)>;

/// Names, ranges and combinations: everything that can be said before the data is there. kInvalidInput.
[[nodiscard]] Status check_settings(const ExperimentSettings& settings, const Catalog& catalog);

/// Simulates one experiment: each iteration one client, uniformly drawn, answers with an update computed on
/// the model of tau iterations ago, tau uniform in {0..tau_max}; the update goes through Aggregator::submit.
/// The result depends on settings, data and model alone. kInvalidInput when they do not fit each other.
[[nodiscard]] Result<ExperimentResult> run_experiment(const ExperimentSettings& settings,
                                                      const Catalog& catalog, const ModelSource& model,
                                                      std::shared_ptr<const DatasetSplit> source,
                                                      const RunProgress& progress = {},
                                                      const RunObserver& observer = {});

}  // namespace aflguard::lab
