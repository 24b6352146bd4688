#include "bench/bench_train.h"

#include <ctime>
#include <filesystem>
#include <fstream>

#include "bench/pytorch_baseline.h"
#include "core/base/random.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "models/training_graph.h"
#include "models/zoo/zoo_package.h"

namespace aflguard::bench {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

struct Case {
  const char* result;  ///< name of the figure
  const char* zoo;
  std::size_t batch;
  int steps;  ///< of ours and of the baseline, per round
};
constexpr Case kCases[] = {{"cnn_step_cpu_ms", "cnn", 32, 20}, {"resnet20_step_cpu_ms", "resnet20", 64, 2}};

double process_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Training steps on random data, ready to be timed.
class Workload {
 public:
  static Result<Workload> make(const ModelPackage& package, std::size_t batch,
                               const OnnxTrainerOptions& options) {
    TRY(auto runtime, OnnxRuntime::load());
    TRY(auto theta, initial_theta(package, 1));
    TRY(auto trainer, make_onnx_trainer(std::move(runtime), package, options));
    return Workload(std::move(trainer), std::move(theta), batch);
  }

  /// CPU time of each of `steps` steps, the median, in milliseconds.
  Result<double> step_cpu_ms(int steps) {
    std::vector<double> times;
    for (int i = 0; i < steps; ++i) {
      const double start = process_cpu_ms();
      TRY([[maybe_unused]] const float loss,
          trainer_->gradient(theta_, {labels_.size(), features_, labels_, {}}, gradient_));
      times.push_back(process_cpu_ms() - start);
    }
    return summarise(std::move(times)).median;
  }

 private:
  Workload(std::unique_ptr<Trainer> trainer, std::vector<float> theta, std::size_t batch)
      : trainer_(std::move(trainer)), theta_(std::move(theta)), gradient_(theta_.size()) {
    Random random(1);
    features_.resize(batch * trainer_->model().input_size());
    labels_.resize(batch);
    for (float& value : features_) value = static_cast<float>(random.uniform());
    for (auto& label : labels_) label = static_cast<std::int64_t>(random.below(trainer_->model().classes()));
  }

  std::unique_ptr<Trainer> trainer_;
  std::vector<float> theta_, gradient_, features_;
  std::vector<std::int64_t> labels_;
};

Result<BenchResult> bench_steps(const Case& c, const BenchTrainOptions& options,
                                Result<PyTorchBaseline>& baseline, Progress& progress) {
  TRY(const ModelPackage package, models::build_zoo_package(c.zoo));
  TRY(auto ours, Workload::make(package, c.batch, {}));
  TRY([[maybe_unused]] const double warm_up, ours.step_cpu_ms(2));
  if (baseline.ok()) {
    TRY([[maybe_unused]] const double baseline_warm_up, baseline->step_cpu_ms(c.zoo, 2));
  }
  std::vector<double> times;
  std::vector<double> baseline_times;
  for (int round = 0; round < options.rounds; ++round) {
    progress.show(c.result, static_cast<std::size_t>(round), static_cast<std::size_t>(options.rounds));
    TRY(const double time, ours.step_cpu_ms(c.steps));
    times.push_back(time);
    if (!baseline.ok()) continue;
    TRY(const double baseline_time, baseline->step_cpu_ms(c.zoo, c.steps));
    baseline_times.push_back(baseline_time);
  }
  const auto summary = summarise(std::move(times));
  BenchResult result{c.result, summary.median, "ms", summary.spread, "PyTorch, one thread", std::nullopt, {},
                     {}};
  if (baseline.ok()) {
    result.baseline_name = "PyTorch " + baseline->version() + ", one thread";
    result.baseline_value = summarise(std::move(baseline_times)).median;
  } else {
    result.no_baseline = baseline.error().message;
  }
  result.conditions = {
      {"model", c.zoo},           {"batch", c.batch},           {"threads", 1},
      {"rounds", options.rounds}, {"steps_per_round", c.steps}, {"clock", "process CPU time"}};
  return result;
}

/// A folder that is never committed, and so removes itself.
Result<StagedDirectory> training_folder() {
  return StagedDirectory::create(fs::temp_directory_path() / "aflguard-bench", /*replace=*/true);
}

/// Peak memory of a separate process that links what a device links.
Result<BenchResult> bench_memory(Progress& progress) {
  constexpr int kSteps = 50;
  progress.show("cnn_peak_rss_mb", 0, 1);
  TRY(const StagedDirectory folder, training_folder());
  TRY(const ModelPackage package, models::build_zoo_package("cnn"));
  TRY_STATUS(write_model_package(package, folder.path() / "cnn"));
  const fs::path probe = fs::read_symlink("/proc/self/exe").parent_path() / "aflguard-train-probe";
  TRY(const auto outcome,
      run_program({probe.string(), (folder.path() / "cnn").string(), "32", std::to_string(kSteps)},
                  folder.path()));
  if (outcome.exit_code != 0) return internal_error(probe.string() + " failed: " + outcome.last_line());
  const double mb = std::strtod(outcome.output.c_str(), nullptr) * 1024 / 1e6;
  BenchResult result{"cnn_peak_rss_mb", mb, "MB", 0, {}, std::nullopt, {}, {}};
  result.conditions = {{"model", "cnn"},
                       {"batch", 32},
                       {"steps", kSteps},
                       {"measured", "VmHWM of a process that only trains"}};
  return result;
}

/// Share of the operators' time that goes into splitting theta and joining the gradient, from the runtime's
/// profile.
Result<double> split_join_share(const fs::path& folder) {
  double parts = 0;
  double total = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path());
    const Json events = Json::parse(file, nullptr, false);
    if (events.is_discarded()) return internal_error("ONNX Runtime wrote a profile that is not JSON");
    for (const Json& event : events) {
      if (event.value("cat", "") != "Node") continue;
      const std::string name = event.value("name", "");
      if (!name.ends_with("_kernel_time")) continue;
      const double duration = event.value("dur", 0.0);
      total += duration;
      if (name.starts_with(models::kSplitNode) || name.starts_with(models::kJoinNode)) parts += duration;
    }
  }
  if (total <= 0) return internal_error("ONNX Runtime's profile has no operators");
  return parts / total;
}

Result<double> profiled_share(GraphChoice graph, int steps) {
  TRY(const StagedDirectory folder, training_folder());
  {
    TRY(const ModelPackage package, models::build_zoo_package("cnn"));
    OnnxTrainerOptions options;
    options.graph = graph;
    options.profile_prefix = (folder.path() / "profile").string();
    TRY(auto workload, Workload::make(package, 32, options));
    TRY([[maybe_unused]] const double time, workload.step_cpu_ms(steps));
  }
  return split_join_share(folder.path());
}

Result<BenchResult> bench_split_join(Progress& progress) {
  constexpr int kSteps = 60;
  progress.show("theta_split_join_share", 0, 1);
  TRY(const double share, profiled_share(GraphChoice::kFastest, kSteps));
  TRY(const double standard_share, profiled_share(GraphChoice::kStandard, kSteps));
  BenchResult result{"theta_split_join_share", share, "", 0, {}, std::nullopt, {}, {}};
  result.conditions = {{"model", "cnn"},
                       {"batch", 32},
                       {"steps", kSteps},
                       {"measured", "share of all operators' time in ONNX Runtime's profile"},
                       {"graph", "fused: parameters and gradients are windows into theta and gradient"},
                       {"share_in_standard_graph", standard_share}};
  return result;
}

}  // namespace

Result<std::vector<BenchResult>> bench_train(const BenchTrainOptions& options, Progress& progress) {
  std::vector<BenchResult> results;
  auto baseline = options.with_baseline
                      ? PyTorchBaseline::start()
                      : Result<PyTorchBaseline>(not_found("the baseline was not asked for"));
  for (const Case& c : kCases) {
    TRY(auto result, bench_steps(c, options, baseline, progress));
    results.push_back(std::move(result));
  }
  TRY(auto memory, bench_memory(progress));
  results.push_back(std::move(memory));
  TRY(auto share, bench_split_join(progress));
  results.push_back(std::move(share));
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
