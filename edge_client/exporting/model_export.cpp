#include "edge_client/exporting/model_export.h"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>

#include "core/learning/inference_file.h"
#include "core/learning/normalisation_statistics.h"
#include "core/system/atomic_file.h"

namespace aflguard::edge {
namespace {

using std::chrono::seconds;

constexpr seconds kIdle(60);
constexpr seconds kAfterFailure(30);
/// A program that takes longer has stopped working; the next model needs its place.
constexpr seconds kProgramTimeout(300);
constexpr std::chrono::milliseconds kProgramPoll(250);

/// What an earlier run measured of the model in the file; nothing of another model's file.
std::optional<double> error_in(const std::filesystem::path& path, const ModelDescription& model) {
  const auto file = read_file(path);
  if (!file.ok()) return std::nullopt;
  const auto notes = read_file_notes(*file);
  if (!notes.ok()) return std::nullopt;
  std::optional<double> error;
  bool same_model = false;
  for (const auto& [key, value] : *notes) {
    if (key == kNoteLayout) same_model = value == model.hash;
    if (key == kNoteLocalError) error = std::strtod(value.c_str(), nullptr);
  }
  return same_model ? error : std::nullopt;
}

}  // namespace

Status check_exportable(const ModelPackage& package) {
  const ModelDescription& model = package.description;
  if (package.inference_graph.empty()) {
    return invalid_input("the package of model '" + model.name +
                         "' has no inference graph; build it again with: aflguard model build");
  }
  if (model.statistics == 0 || !package.calibration.empty()) return {};
  return invalid_input(
      "model '" + model.name +
      "' has batch normalisation, and its package has no calibration samples; build it with: "
      "aflguard model build --calibration FILE");
}

ModelExport::ModelExport(ExportSettings settings, std::string fleet, ModelPackage package, Trainer& trainer,
                         const Clock& clock, LogSink& log)
    : settings_(std::move(settings)),
      fleet_(std::move(fleet)),
      package_(std::move(package)),
      trainer_(trainer),
      clock_(clock),
      log_(log),
      exported_error_(settings_.best ? error_in(settings_.file, package_.description) : std::nullopt) {}

bool ModelExport::wanted(const ModelMessage* model, std::optional<double> error) {
  if (settings_.file.empty() || model == nullptr || exported_ == model->version) return false;
  if (!settings_.best) return true;
  return error && (!exported_error_ || *error <= *exported_error_);
}

ModelExport::Time ModelExport::step(const ModelMessage* model, std::optional<double> error) {
  const Time now = clock_.steady();
  const bool busy = program_runs();
  const Time poll = busy ? now + kProgramPoll : now + kIdle;
  if (!wanted(model, error)) return poll;
  if (now < earliest_) return std::min(earliest_, poll);
  if (busy) return poll;  // what it reads is not replaced under its hands
  const Status written = write(*model, error);
  if (!written.ok()) {
    problem_ = "the model is not exported: " + written.error().message;
    earliest_ = now + kAfterFailure;
    return earliest_;
  }
  problem_.clear();
  exported_ = model->version;
  exported_error_ = error;
  earliest_ = now + settings_.interval;
  run_program(model->version);
  return program_ ? now + kProgramPoll : now + kIdle;
}

Status ModelExport::write(const ModelMessage& model, std::optional<double> error) {
  TRY(const auto statistics, measure_statistics(trainer_, model.vector, package_.calibration));
  FileNotes notes = model_notes(package_.description);
  notes.emplace_back(kNoteFleet, fleet_);
  notes.emplace_back(kNoteVersion, std::to_string(model.version));
  if (error) notes.emplace_back(kNoteLocalError, std::to_string(*error));
  TRY(const InferenceFile file, make_inference_file(package_, model.vector, statistics, notes));
  TRY_STATUS(replace_own_file(settings_.file, file.parts));
  log_.debug("model version " + std::to_string(model.version) + " exported to " + settings_.file.string());
  return {};
}

void ModelExport::run_program(std::uint64_t version) {
  if (settings_.on_model.empty()) return;
  ProcessOptions options;
  options.arguments = settings_.on_model;
  options.environment = {{"AFLGUARD_MODEL_FILE", settings_.file.string()},
                         {"AFLGUARD_MODEL_VERSION", std::to_string(version)}};
  // With the log: standard output is for programs that read what the client says.
  options.output = options.error = STDERR_FILENO;
  options.group = ProcessGroup::kOwn;
  options.ends_with_us = true;
  auto started = Process::start(options);
  if (!started.ok()) return log_.warning("on_model: " + started.error().message);
  program_.emplace(std::move(*started));
  program_deadline_ = clock_.steady() + kProgramTimeout;
}

bool ModelExport::program_runs() {
  if (!program_) return false;
  if (program_->running()) {
    if (clock_.steady() < program_deadline_) return true;
    log_.warning("on_model: '" + settings_.on_model.front() + "' did not end within " +
                 std::to_string(kProgramTimeout.count()) + " seconds and was killed");
    program_->kill();
  } else if (const int code = program_->ended()->shell_code(); code != 0) {
    log_.warning("on_model: '" + settings_.on_model.front() + "' ended with exit code " +
                 std::to_string(code));
  }
  program_.reset();
  return false;
}

}  // namespace aflguard::edge
