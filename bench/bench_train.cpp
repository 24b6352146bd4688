#include "bench/bench_train.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>

#include "bench/plain/plain_network.h"
#include "bench/pytorch_baseline.h"
#include "core/base/check.h"
#include "core/base/random.h"
#include "core/kernels/kernels.h"
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
  int steps;  ///< of ours and of PyTorch's, per round
  PlainNetwork (*plain)();
  double
      multiply_adds;  ///< per sample and step: forward, and what the gradients of weights and of inputs need
};
// Behind max pooling only the pixel that won has a gradient. conv1 of both has no gradient of its input.
constexpr double kCnnWork = 26 * 26 * 30 * 9 + 13 * 13 * 30 * 9  // conv1
                            + (11 * 11 + 2 * 5 * 5) * 50 * 270 +
                            3 * (1250 + 10) * 100;  // conv2, dense layers
constexpr double kResNetWork =
    2 * 1024 * 16 * 27  // conv1
    + 3 * (6 * 1024 * 16 * 144 + 256 * 32 * (144 + 5 * 288) + 64 * 64 * (288 + 5 * 576) + 640);
constexpr Case kCases[] = {
    {"cnn_step_cpu_ms", "cnn", 32, 20, PlainNetwork::cnn, kCnnWork},
    {"resnet20_step_cpu_ms", "resnet20", 64, 2, PlainNetwork::resnet20, kResNetWork},
};

double process_cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Multiply-adds per millisecond that the kernels' variant reaches at most: the best of several tries.
double peak_per_ms() {
  constexpr int kTries = 20;
  constexpr std::size_t kRounds = 100'000;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const double start = process_cpu_ms();
    const kernels::Peak peak = kernels::best_kernels().peak(kRounds, 0.5F);
    const double time = process_cpu_ms() - start;
    check(std::isfinite(peak.number), "multiply-adds that overflow");
    best = std::max(best, static_cast<double>(peak.multiply_adds) / std::max(time, 1e-6));
  }
  return best;
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

/// The least CPU time of a step in plain C++, in milliseconds. It is slow: a few steps must do.
double plain_step_cpu_ms(const Case& c, int steps) {
  PlainNetwork network = c.plain();
  Random random(1);
  std::vector<float> theta(network.dimension());
  std::vector<float> features(c.batch * network.input_size());
  std::vector<std::int64_t> labels(c.batch);
  for (float& value : theta) value = static_cast<float>(random.normal() * 0.05);
  for (float& value : features) value = static_cast<float>(random.uniform());
  for (auto& label : labels) label = static_cast<std::int64_t>(random.below(10));
  std::vector<float> gradient(theta.size());
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < steps; ++i) {
    const double start = process_cpu_ms();
    (void)network.gradient(theta, features, labels, gradient);
    best = std::min(best, process_cpu_ms() - start);
  }
  return best;
}

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
  const double plain = plain_step_cpu_ms(c, c.steps);
  BenchResult result{c.result, summary.median, "ms", summary.spread, "plain C++, one thread", plain, {}, {}};
  if (baseline.ok()) {
    result.baseline_name = "PyTorch " + baseline->version() + ", one thread";
    result.baseline_value = summarise(std::move(baseline_times)).median;
  }
  result.conditions = {
      {"model", c.zoo},           {"batch", c.batch},           {"threads", 1},
      {"rounds", options.rounds}, {"steps_per_round", c.steps}, {"clock", "process CPU time"}};
  result.conditions["kernels"] = kernels::best_kernels().name;
  result.conditions["plain_cpp_ms"] = plain;
  result.conditions["of_plain_cpp"] = summary.median / plain;
  result.conditions["roofline_ms"] = c.multiply_adds * static_cast<double>(c.batch) / peak_per_ms();
  if (!baseline.ok()) result.conditions["no_pytorch"] = baseline.error().message;
  return result;
}

double wall_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

/// Least wall time of a step with two threads beside that with one, taking turns.
Result<BenchResult> bench_threads(const BenchTrainOptions& options, Progress& progress) {
  constexpr std::size_t kBatch = 64;
  TRY(const ModelPackage package, models::build_zoo_package("resnet20"));
  OnnxTrainerOptions two_threads;
  two_threads.threads = 2;
  TRY(auto one, Workload::make(package, kBatch, {}));
  TRY(auto two, Workload::make(package, kBatch, two_threads));
  double least[] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (int round = 0; round < options.rounds + 1; ++round) {
    progress.show("resnet20_two_threads_wall_ms", static_cast<std::size_t>(round),
                  static_cast<std::size_t>(options.rounds + 1));
    for (Workload* workload : {&one, &two}) {
      const double start = wall_ms();
      TRY([[maybe_unused]] const double cpu, workload->step_cpu_ms(1));
      double& best = least[workload == &one ? 0 : 1];
      best = std::min(best, wall_ms() - start);
    }
  }
  BenchResult result{"resnet20_two_threads_wall_ms", least[1], "ms", 0,
                     "one thread, wall time",        least[0], {},   {}};
  result.conditions = {{"model", "resnet20"},
                       {"batch", kBatch},
                       {"rounds", options.rounds},
                       {"kernels", kernels::best_kernels().name},
                       {"measured", "least wall time of a step; needs two idle cores"}};
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
  TRY(auto threads, bench_threads(options, progress));
  results.push_back(std::move(threads));
  TRY(auto memory, bench_memory(progress));
  results.push_back(std::move(memory));
  TRY(auto share, bench_split_join(progress));
  results.push_back(std::move(share));
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
