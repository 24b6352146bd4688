#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/messages.h"
#include "core/learning/model_package.h"
#include "core/learning/trainer.h"
#include "core/system/process.h"

namespace aflguard::edge {

struct ExportSettings {
  std::filesystem::path file;                  ///< empty: no export
  bool best = false;                           ///< only models that err no more than the one in the file
  std::chrono::milliseconds interval{10'000};  ///< at least this long between two exports
  std::vector<std::string> on_model{};         ///< a program and its arguments, run after each; may be empty
};

/// kInvalidInput when the package cannot be exported on a board: it has no inference graph, or batch
/// normalisation without calibration samples.
[[nodiscard]] Status check_exportable(const ModelPackage& package);

/// Keeps a file with the newest model, ready to use by any ONNX Runtime: replaced as a whole or not at all,
/// with statistics of normalisations measured on the package's calibration samples. A program that the owner
/// names is run after each. Borrows trainer, clock and log; one thread.
class ModelExport final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Of `package` only description, inference graph and calibration samples are needed.
  ModelExport(ExportSettings settings, std::string fleet, ModelPackage package, Trainer& trainer,
              const Clock& clock, LogSink& log);

  /// Exports `model` when it is another one than the last time and the interval is over; when to come again,
  /// if no other model comes before. Null: there is none yet. `error`: what this board measured of it on its
  /// own samples; the best model is chosen by it.
  [[nodiscard]] Time step(const ModelMessage* model, std::optional<double> error = {});
  /// Why the newest model is not in the file; empty when it is, or will be.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  /// That it may take the place of the file: another version, and where the best is wanted, no worse one.
  [[nodiscard]] bool wanted(const ModelMessage* model, std::optional<double> error);
  [[nodiscard]] Status write(const ModelMessage& model, std::optional<double> error);
  void run_program(std::uint64_t version);
  [[nodiscard]] bool program_runs();

  const ExportSettings settings_;
  const std::string fleet_;
  const ModelPackage package_;
  Trainer& trainer_;
  const Clock& clock_;
  LogSink& log_;
  std::optional<std::uint64_t> exported_;  ///< version in the file
  std::optional<double> exported_error_;   ///< of it; what an earlier run left counts
  Time earliest_{};
  std::string problem_;
  std::optional<Process> program_;
  Time program_deadline_{};
};

}  // namespace aflguard::edge
