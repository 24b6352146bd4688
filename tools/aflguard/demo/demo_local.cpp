#include "tools/aflguard/demo/demo_local.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/base/progress.h"
#include "core/learning/evaluation.h"
#include "datasets/folders.h"
#include "datasets/install.h"
#include "datasets/load.h"
#include "models/zoo/zoo_package.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

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

  void show(const lab::LocalTrainingState& state) {
    if (state.seconds >= next_test_) {
      if (const auto error = test_error(trainer_, theta_, test_, kQuickTest); error.ok()) error_ = *error;
      next_test_ = state.seconds + duration_ / 12;
      draw(state);
    } else if (terminal_ && state.seconds >= next_draw_) {
      draw(state);
    }
  }

 private:
  void draw(const lab::LocalTrainingState& state) {
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

}  // namespace

Status run_local_demo(const lab::LocalTrainingOptions& options, bool json) {
  std::fputs("AFLGuard Edge demo: the paper's CNN learns MNIST in one process, with stock ONNX Runtime.\n",
             stderr);
  TRY(const DatasetSplit data, mnist());
  TRY(const ModelPackage package, models::build_zoo_package("cnn"));
  TRY(const TrainerSource trainers, load_trainers());
  const std::string& version = trainers.runtime_version;
  TRY(auto theta, initial_theta(package, options.seed));
  TRY(auto trainer, trainers.make(package));
  const auto seconds = static_cast<double>(options.duration.count());
  std::fprintf(stderr, "%zu training samples, %zu parameters, ONNX Runtime %s, one thread, %.0f s\n",
               data.train.size(), trainer->model().dimension(), version.c_str(), seconds);
  lab::LocalTrainingState state;
  {
    TrainingView view(*trainer, theta, data.test, seconds);
    TRY(state,
        lab::train_locally(*trainer, data.train, theta, options, [&view](const lab::LocalTrainingState& now) {
          view.show(now);
          return true;
        }));
  }
  TRY(const double error, test_error(*trainer, theta, data.test));
  if (json) {
    const nlohmann::ordered_json document = {{"schema", "aflguard-demo-local-1"},
                                             {"test_error", error},
                                             {"loss", state.loss},
                                             {"steps", state.steps},
                                             {"seconds", state.seconds},
                                             {"batch", options.batch},
                                             {"seed", options.seed},
                                             {"onnx_runtime", version}};
    std::printf("%s\n", document.dump(2).c_str());
  } else {
    std::printf("test error %.4f on %zu test samples after %zu steps of %zu samples in %.0f s\n", error,
                data.test.size(), state.steps, options.batch, state.seconds);
  }
  return {};
}

}  // namespace aflguard::cli
