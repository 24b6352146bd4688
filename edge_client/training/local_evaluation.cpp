#include "edge_client/training/local_evaluation.h"

#include <algorithm>

#include "core/learning/evaluation.h"
#include "core/learning/normalisation_statistics.h"

namespace aflguard::edge {
namespace {

using std::chrono::seconds;

constexpr seconds kIdle(60);
constexpr seconds kShortestPause(10);
/// Pauses are so many times as long as what they follow.
constexpr int kPauses = 20;
/// Enough for an error to two digits; more of them would take a board's time.
constexpr std::size_t kMostSamples = 500;

}  // namespace

LocalEvaluation::LocalEvaluation(const HeldBack& held_back, Trainer& trainer, SampleSource& source,
                                 std::vector<float> calibration, const Clock& clock, LogSink& log)
    : held_back_(held_back),
      trainer_(trainer),
      source_(source),
      calibration_(std::move(calibration)),
      clock_(clock),
      log_(log) {}

LocalEvaluation::Time LocalEvaluation::step(const ModelMessage* model) {
  const Time now = clock_.steady();
  if (held_back_.none() || model == nullptr || (newest_ && newest_->version == model->version)) {
    return now + kIdle;
  }
  if (now < earliest_) return earliest_;
  const auto measured = measure(*model);
  const Time end = clock_.steady();
  earliest_ = end + std::max<Time::duration>(kShortestPause, kPauses * (end - now));
  const std::string problem = measured.ok() ? std::string() : measured.error().message;
  if (problem != problem_ && !problem.empty()) {
    log_.warning("the model is not measured on this board's own samples: " + problem);
  }
  problem_ = problem;
  if (measured.ok() && *measured) newest_ = **measured;
  return earliest_;
}

/// Nothing while there are no such samples.
Result<std::optional<LocalEvaluation::Measured>> LocalEvaluation::measure(const ModelMessage& model) {
  const auto all = source_.samples();
  if (!all.ok() && all.error().kind == ErrorKind::kUnavailable) return std::optional<Measured>();
  if (!all.ok()) return all.error();
  const auto indices = held_back_.newest(**all, kMostSamples);
  if (indices.empty()) return std::optional<Measured>();
  const Dataset own = (*all)->select(indices);
  std::vector<float> statistics;  // without calibration samples, each batch has its own
  if (!calibration_.empty()) {
    TRY(statistics, measure_statistics(trainer_, model.vector, calibration_));
  }
  TRY(const double error, own.regression()
                              ? mean_squared_error(trainer_, model.vector, own, SIZE_MAX, statistics)
                              : test_error(trainer_, model.vector, own, SIZE_MAX, statistics));
  return std::optional(Measured{error, model.version, indices.size()});
}

}  // namespace aflguard::edge
