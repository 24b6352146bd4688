#include "tools/aflguard/demo_verb.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/progress.h"
#include "core/learning/evaluation.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "datasets/folders.h"
#include "datasets/install.h"
#include "datasets/load.h"
#include "models/zoo/zoo_package.h"
#include "tools/aflguard/local_training.h"

namespace aflguard::tools {
namespace {

struct DemoOptions {
  LocalTrainingOptions training;
  int seconds = 60;
  bool json = false;
};

constexpr std::size_t kQuickTest = 2000;  ///< test samples for the figures on the way

/// Loss and test error as the training goes on: one line that redraws itself on a terminal, a line every few
/// seconds otherwise.
class TrainingView final {
 public:
  TrainingView(Trainer& trainer, std::span<const float> theta, const Dataset& test, double duration)
      : trainer_(trainer),
        theta_(theta),
        test_(test),
        duration_(duration),
        terminal_(::isatty(STDERR_FILENO) != 0) {}
  ~TrainingView() {
    if (terminal_) std::fputc('\n', stderr);
  }

  void show(const LocalTrainingState& state) {
    if (state.seconds >= next_test_) {
      if (const auto error = test_error(trainer_, theta_, test_, kQuickTest); error.ok()) error_ = *error;
      next_test_ = state.seconds + duration_ / 12;
      draw(state);
    } else if (terminal_ && state.seconds >= next_draw_) {
      draw(state);
    }
  }

 private:
  void draw(const LocalTrainingState& state) {
    next_draw_ = state.seconds + 0.1;
    constexpr int kWidth = 24;
    const int filled = std::min(kWidth, static_cast<int>(kWidth * state.seconds / duration_));
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(kWidth - filled), '.');
    std::fprintf(stderr, "%s[%s] %3.0f s  step %6zu  loss %.4f  test error %.3f  %4.0f samples/s%s",
                 terminal_ ? "\r" : "", bar.c_str(), state.seconds, state.steps, state.loss, error_,
                 static_cast<double>(state.steps) * 32 / state.seconds, terminal_ ? "\x1b[K" : "\n");
    std::fflush(stderr);
  }

  Trainer& trainer_;
  std::span<const float> theta_;
  const Dataset& test_;
  double duration_;
  bool terminal_;
  double next_test_ = 0;
  double next_draw_ = 0;
  double error_ = 1;
};

Result<DatasetSplit> mnist() {
  StderrProgress progress;
  TRY(const auto data_dir, datasets::data_folder());
  TRY(const auto cache_dir, datasets::cache_folder());
  TRY([[maybe_unused]] const auto installed, datasets::get_dataset("mnist", {data_dir, cache_dir, progress}));
  progress.finish();
  return datasets::load_dataset("mnist", data_dir);
}

Status run_demo(const DemoOptions& options) {
  std::fputs("AFLGuard Edge demo: the paper's CNN learns MNIST on this machine, with stock ONNX Runtime.\n",
             stderr);
  TRY(const DatasetSplit data, mnist());
  TRY(ModelPackage package, models::build_zoo_package("cnn"));
  TRY(auto runtime, OnnxRuntime::load());
  const std::string version = runtime->version();
  TRY(auto theta, initial_theta(package, options.training.seed));
  TRY(auto trainer, make_onnx_trainer(std::move(runtime), std::move(package)));
  std::fprintf(stderr, "%zu training samples, %zu parameters, ONNX Runtime %s, one thread, %d s\n",
               data.train.size(), trainer->model().dimension(), version.c_str(), options.seconds);
  LocalTrainingOptions training = options.training;
  training.duration = std::chrono::seconds(options.seconds);
  LocalTrainingState state;
  {
    TrainingView view(*trainer, theta, data.test, options.seconds);
    TRY(state, train_locally(*trainer, data.train, theta, training, [&view](const LocalTrainingState& now) {
          view.show(now);
          return true;
        }));
  }
  TRY(const double error, test_error(*trainer, theta, data.test));
  if (options.json) {
    const nlohmann::ordered_json json = {{"schema", "aflguard-demo-1"}, {"test_error", error},
                                         {"loss", state.loss},          {"steps", state.steps},
                                         {"seconds", state.seconds},    {"batch", training.batch},
                                         {"seed", training.seed},       {"onnx_runtime", version}};
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    std::printf("test error %.4f on %zu test samples after %zu steps of %zu samples in %.0f s\n", error,
                data.test.size(), state.steps, training.batch, state.seconds);
  }
  return {};
}

}  // namespace

void add_demo_verb(CLI::App& app, Action& action) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* verb =
      app.add_subcommand("demo", "Train the paper's CNN on MNIST on this machine and watch it learn");
  verb->footer("Example:\n  aflguard demo --seconds 20\nGets MNIST first if it is not installed.");
  verb->add_option("--seconds", options->seconds, "How long to train")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  verb->add_option("--batch", options->training.batch, "Samples per step")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  verb->add_option("--rate", options->training.rate, "Learning rate on the mean gradient")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--seed", options->training.seed, "Seed of the first model and of the batches")
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document at the end");
  verb->callback([options, &action] { action = [options] { return run_demo(*options); }; });
}

}  // namespace aflguard::tools
