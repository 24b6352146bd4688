#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/messages.h"
#include "core/learning/trainer.h"
#include "edge_client/training/held_back.h"
#include "edge_client/training/sample_source.h"

namespace aflguard::edge {

/// The error of a model on the samples that this board holds back: the share of wrong classes, or the mean
/// squared error. For people, and for the choice of the exported model; no verdict depends on it.
class LocalEvaluation final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  struct Measured {
    double error = 0;
    std::uint64_t version = 0;
    std::uint64_t samples = 0;
  };

  /// `calibration`: features on which statistics of normalisations are measured; may be empty.
  /// Trainer, source, clock and log are borrowed; one thread.
  LocalEvaluation(const HeldBack& held_back, Trainer& trainer, SampleSource& source,
                  std::vector<float> calibration, const Clock& clock, LogSink& log);

  /// Measures `model` when it is another version than the last time and a pause is over, which is long
  /// enough that this takes a small share of the time; when to come again, if no other model comes before.
  /// Null: there is none yet.
  [[nodiscard]] Time step(const ModelMessage* model);
  [[nodiscard]] const std::optional<Measured>& newest() const { return newest_; }

 private:
  [[nodiscard]] Result<std::optional<Measured>> measure(const ModelMessage& model);

  const HeldBack held_back_;
  Trainer& trainer_;
  SampleSource& source_;
  const std::vector<float> calibration_;
  const Clock& clock_;
  LogSink& log_;
  std::optional<Measured> newest_;
  Time earliest_{};
  std::string problem_;
};

}  // namespace aflguard::edge
