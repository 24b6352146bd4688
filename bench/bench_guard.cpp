#include "bench/bench_guard.h"

#include <algorithm>
#include <ctime>

#include "bench/pytorch_baseline.h"
#include "core/aggregation/aggregator.h"
#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/aggregation/vectors/vector_kernels.h"
#include "core/base/random.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "datasets/load.h"
#include "lab/campaigns/lab_resources.h"

namespace aflguard::bench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kClientCounts[] = {100, 10'000, 1'000'000};
constexpr const char* kClientNames[] = {"100", "10k", "1m"};

/// CPU time of this thread: what runs beside the benchmark disturbs it least.
double now_us() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

double process_cpu_s() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

AlignedFloats random_floats(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  AlignedFloats out(count);
  for (float& v : out) v = static_cast<float>(random.uniform(-1, 1));
  return out;
}

/// The same vector whenever it is asked.
class ConstantReference final : public ReferenceSource {
 public:
  explicit ConstantReference(AlignedFloats vector) : vector_(std::move(vector)) {}
  Status compute(std::span<const float> /*parameters*/, std::uint64_t version,
                 ReferenceUpdate& reference) override {
    reference.version = version;
    reference.vector = vector_;
    reference.per_class = RowBundle(1, vector_.size());
    reference.per_class.set_row(0, vector_);
    reference.derive();
    return {};
  }

 private:
  AlignedFloats vector_;
};

// The baseline: reads three vectors and writes a fourth, or the third again, with the least arithmetic that a
// compiler cannot drop. Compiled for AVX2 as well, like the guard.
__attribute__((always_inline)) inline void plain_body(const float* g, const float* reference,
                                                      const float* theta, float* next, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) next[i] = theta[i] + (g[i] + reference[i]);
}
using PlainPass = void (*)(const float*, const float*, const float*, float*, std::size_t);
void plain_pass(const float* g, const float* reference, const float* theta, float* next, std::size_t count) {
  plain_body(g, reference, theta, next, count);
}
#if defined(__x86_64__)
__attribute__((target("avx2"))) void plain_pass_avx2(const float* g, const float* reference,
                                                     const float* theta, float* next, std::size_t count) {
  plain_body(g, reference, theta, next, count);
}
#endif

PlainPass best_plain_pass() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) return plain_pass_avx2;
#endif
  return plain_pass;
}

/// AFLGuard's submit() of an accepted update beside the plain pass, taking turns.
Result<BenchResult> bench_aflguard(const char* name, std::size_t dimension, int rounds, Progress& progress) {
  const int calls = dimension > 1'000'000 ? 3 : 200;
  ConstantReference source(random_floats(dimension, 1));
  AlignedFloats update = random_floats(dimension, 1);
  for (float& v : update) v *= 1.25F;  // well inside the ball: every update is accepted
  AlignedFloats theta = random_floats(dimension, 2);
  AlignedFloats next(dimension);
  const AlignedFloats reference = random_floats(dimension, 1);
  AggregatorOptions options;
  options.learning_rate = 1e-9;
  options.reference_interval = std::uint64_t{1} << 60;
  Aggregator guard(options, std::make_unique<AflGuard>(1.5), &source, theta);
  const PlainPass plain = best_plain_pass();
  std::vector<double> ours, separate, in_place;
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    progress.show(name, static_cast<std::size_t>(std::max(round, 0)), static_cast<std::size_t>(rounds));
    const double start = now_us();
    for (int i = 0; i < calls; ++i) {
      TRY(const Verdict verdict, guard.submit({1, guard.model().version(), update}));
      if (!verdict.accepted) return internal_error("the benchmark's update was rejected");
    }
    const double middle = now_us();
    for (int i = 0; i < calls; ++i) {
      plain(update.data(), reference.data(), theta.data(), next.data(), dimension);
      std::swap(theta, next);
    }
    const double later = now_us();
    for (int i = 0; i < calls; ++i) {
      plain(update.data(), reference.data(), theta.data(), theta.data(), dimension);
    }
    const double end = now_us();
    if (round < 0) continue;
    ours.push_back((middle - start) / calls);
    separate.push_back((later - middle) / calls);
    in_place.push_back((end - later) / calls);
  }
  const auto summary = summarise(std::move(ours));
  BenchResult result{name, summary.median, "us", summary.spread, "plain pass over the same bytes", {}, {},
                     {}};
  result.baseline_value = summarise(std::move(separate)).median;
  result.conditions = {{"dimension", dimension},
                       {"rounds", rounds},
                       {"calls_per_round", calls},
                       {"threads", 1},
                       {"clock", "thread CPU time"},
                       {"baseline", "reads update, reference and model, writes the next model"},
                       {"plain_pass_in_place_us", summarise(std::move(in_place)).median}};
  return result;
}

/// Ten class updates of 140,000 numbers, 100 clients, and the class updates change every tenth update as they
/// do in a run: what that costs the guard is included. The baseline judges the same updates.
class SpanLoad final {
 public:
  static constexpr std::size_t kDimension = 140'000;
  static constexpr std::size_t kClasses = 10;
  static constexpr std::uint64_t kInterval = 10;

  explicit SpanLoad(std::unique_ptr<Guard> guard) : guard_(std::move(guard)) {
    for (std::uint64_t which = 0; which < 2; ++which) {
      ReferenceUpdate& reference = references_[which];
      reference.per_class = RowBundle(kClasses, kDimension);
      reference.vector.assign(kDimension, 0);
      for (std::size_t c = 0; c < kClasses; ++c) {
        const AlignedFloats row = random_floats(kDimension, 10 + 2 * c + which);
        reference.per_class.set_row(c, row);
        for (std::size_t i = 0; i < kDimension; ++i) reference.vector[i] += row[i];
      }
      reference.derive();
      for (std::uint64_t u = 0; u < 5; ++u) {  // mixtures of the classes, each with its own addition
        AlignedFloats update = random_floats(kDimension, 40 + 5 * which + u);
        for (std::size_t i = 0; i < kDimension; ++i) {
          update[i] = 0.5F * update[i] + 0.8F * reference.vector[i];
        }
        updates_[which].push_back(std::move(update));
      }
    }
  }

  /// Microseconds per update.
  Result<double> update_us(int updates) {
    const double start = now_us();
    for (int i = 0; i < updates; ++i, ++judged_) {
      const std::uint64_t which = judged_ / kInterval % 2;
      Submission submission;
      submission.client = judged_ % 100;
      submission.vector = updates_[which][judged_ % 5];
      submission.reference = &references_[which];
      submission.parameters = theta_;
      submission.next = next_;
      submission.rate = 1e-6F;
      const Decision decision = guard_->judge(submission);
      if (!decision.wrote_next) return internal_error("the benchmark's update was rejected");
      std::swap(theta_, next_);
    }
    return (now_us() - start) / updates;
  }

 private:
  std::unique_ptr<Guard> guard_;
  ReferenceUpdate references_[2];
  std::vector<AlignedFloats> updates_[2];
  AlignedFloats theta_ = random_floats(kDimension, 2);
  AlignedFloats next_ = AlignedFloats(kDimension);
  std::uint64_t judged_ = 0;
};

Result<BenchResult> bench_spanguard(const char* name, std::size_t directions, int rounds,
                                    Progress& progress) {
  constexpr int kCalls = 100;
  SpanGuardOptions options;
  options.directions = directions;
  SpanLoad ours(std::make_unique<SpanGuard>(SpanLoad::kDimension, options));
  SpanLoad baseline(std::make_unique<AflGuard>(1.5));
  std::vector<double> our_times;
  std::vector<double> baseline_times;
  for (int round = -1; round < rounds; ++round) {  // round -1 warms up
    progress.show(name, static_cast<std::size_t>(std::max(round, 0)), static_cast<std::size_t>(rounds));
    TRY(const double our_time, ours.update_us(kCalls));
    TRY(const double baseline_time, baseline.update_us(kCalls));
    if (round < 0) continue;
    our_times.push_back(our_time);
    baseline_times.push_back(baseline_time);
  }
  const auto summary = summarise(std::move(our_times));
  BenchResult result{name, summary.median, "us", summary.spread, "AFLGuard on the same updates", {}, {}, {}};
  result.baseline_value = summarise(std::move(baseline_times)).median;
  result.conditions = {{"dimension", SpanLoad::kDimension},
                       {"classes", SpanLoad::kClasses},
                       {"directions", directions},
                       {"clients", 100},
                       {"updates_per_reference", SpanLoad::kInterval},
                       {"rounds", rounds},
                       {"calls_per_round", kCalls},
                       {"threads", 1},
                       {"clock", "thread CPU time"}};
  return result;
}

/// One guard that knows `clients` clients, ready to be timed.
class GuardLoad final {
 public:
  static Result<GuardLoad> make(const GuardKind& kind, std::size_t dimension, std::size_t clients) {
    GuardSettings settings;
    settings.dimension = dimension;
    settings.clients = clients;
    TRY(auto guard, make_guard(kind, settings));
    GuardLoad load(std::move(guard), dimension, clients);
    for (ClientId client = 0; client < clients; ++client) TRY_STATUS(load.submit(client));
    return load;
  }

  /// Microseconds per update of randomly drawn clients.
  Result<double> update_us(int updates) {
    const double start = now_us();
    for (int i = 0; i < updates; ++i) TRY_STATUS(submit(random_.below(clients_)));
    return (now_us() - start) / updates;
  }

 private:
  GuardLoad(std::unique_ptr<Guard> guard, std::size_t dimension, std::size_t clients)
      : clients_(clients),
        reference_(random_floats(dimension, 1)),
        source_(std::make_unique<ConstantReference>(reference_)) {
    AggregatorOptions options;
    options.learning_rate = 1e-6;
    options.reference_interval = std::uint64_t{1} << 60;
    options.history = 4;
    update_ = reference_;
    aggregator_ =
        std::make_unique<Aggregator>(options, std::move(guard), source_.get(), random_floats(dimension, 2));
  }

  Status submit(ClientId client) {
    // No two updates in a row are equal, and none strays from the reference.
    const std::size_t changed = submitted_++ % update_.size();
    update_[changed] = reference_[changed] * (1 + 0.01F * static_cast<float>(submitted_ % 7));
    if (auto verdict = aggregator_->submit({client, aggregator_->model().version(), update_}); !verdict) {
      return verdict.error();
    }
    return {};
  }

  std::size_t clients_;
  std::size_t submitted_ = 0;
  AlignedFloats reference_;
  std::unique_ptr<ConstantReference> source_;
  std::unique_ptr<Aggregator> aggregator_;
  AlignedFloats update_;
  Random random_{3};
};

/// Enough for a steady figure; fewer where an update costs more.
int updates_per_round(const GuardKind& kind) {
  return kind.name == "span-guard" ? 2'000 : 50'000;
}

/// Kardam remembers two vectors per client: a million clients fit only with short ones.
std::size_t scaling_dimension(const GuardKind& kind) {
  return kind.name == "kardam" ? 16 : 1000;
}

Status bench_clients(const GuardKind& kind, int rounds, Progress& progress,
                     std::vector<BenchResult>& results) {
  const int updates = updates_per_round(kind);
  const std::size_t dimension = scaling_dimension(kind);
  std::vector<GuardLoad> loads;
  const std::string what = std::string(kind.name) + " with 100 to 1,000,000 clients";
  for (const std::size_t clients : kClientCounts) {
    progress.show(what, loads.size(), static_cast<std::size_t>(rounds) + 3);
    TRY(auto load, GuardLoad::make(kind, dimension, clients));
    loads.push_back(std::move(load));
  }
  std::vector<std::vector<double>> times(loads.size());
  for (int round = -1; round < rounds; ++round) {
    const int step = round + 4;
    progress.show(what, static_cast<std::size_t>(step), static_cast<std::size_t>(rounds) + 3);
    for (std::size_t turn = 0; turn < loads.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round + 1)) % loads.size();
      TRY(const double time, loads[i].update_us(updates));
      if (round >= 0) times[i].push_back(time);
    }
  }
  std::optional<double> fewest;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const auto summary = summarise(std::move(times[i]));
    BenchResult result;
    result.name = std::string(kind.name) + "_clients_" + kClientNames[i] + "_us";
    result.value = summary.median;
    result.unit = "us";
    result.spread = summary.spread;
    if (i > 0) {
      result.baseline_name = "the same filter, 100 clients";
      result.baseline_value = fewest;
    } else {
      fewest = summary.median;
    }
    result.conditions = {
        {"clients", kClientCounts[i]},  {"dimension", dimension}, {"rounds", rounds},
        {"updates_per_round", updates}, {"threads", 1},           {"clock", "thread CPU time"}};
    results.push_back(std::move(result));
  }
  return {};
}

/// MNIST if it is installed, else noise of the same size: the cost is the same.
std::shared_ptr<const DatasetSplit> mnist_or_noise(std::string& which) {
  if (auto installed = datasets::load_dataset("mnist")) {
    which = "MNIST";
    return std::make_shared<const DatasetSplit>(std::move(*installed));
  }
  which = "noise of MNIST's size";
  auto split = std::make_shared<DatasetSplit>();
  Random random(4);
  for (Dataset* part : {&split->train, &split->test}) {
    const std::size_t samples = part == &split->train ? 60'000 : 10'000;
    std::vector<std::uint8_t> pixels(samples * 28 * 28);
    for (auto& pixel : pixels) pixel = static_cast<std::uint8_t>(random.below(256));
    part->name = "mnist";
    part->sample_shape = {1, 28, 28};
    part->classes = 10;
    part->features = std::move(pixels);
    for (std::size_t i = 0; i < samples; ++i)
      part->labels.push_back(static_cast<std::int64_t>(random.below(10)));
  }
  return split;
}

/// A whole run in CPU time beside the same gradients in PyTorch, which take their turns during the run.
Result<BenchResult> bench_run(const BenchGuardOptions& options, const lab::Catalog& catalog,
                              Progress& progress) {
  constexpr const char* kName = "mnist_run_cpu_s";
  TRY(auto settings, lab::default_settings("mnist"));
  TRY(auto runtime, OnnxRuntime::load());
  const auto make_trainer = [runtime = std::move(runtime)](const ModelPackage& package) {
    return make_onnx_trainer(runtime, package);
  };
  TRY(const auto resources, lab::make_lab_resources(catalog, std::nullopt, make_trainer));
  TRY(const auto model, resources.model("mnist"));
  std::string which;
  const auto data = mnist_or_noise(which);
  auto baseline = options.with_baseline
                      ? PyTorchBaseline::start()
                      : Result<PyTorchBaseline>(not_found("the baseline was not asked for"));
  if (baseline.ok()) {
    TRY([[maybe_unused]] const double warm_up, baseline->step_cpu_ms("cnn", 3));
  }
  std::vector<double> steps;
  std::optional<Error> failure;
  const double start = process_cpu_s();
  const auto run =
      lab::run_experiment(settings, catalog, model, data, [&](std::size_t done, std::size_t total) {
        progress.show(kName, done, total);
        if (!baseline.ok() || failure || done % 250 != 0) return;
        auto step = baseline->step_cpu_ms("cnn", 15);
        if (step) {
          steps.push_back(*step);
        } else {
          failure = step.error();
        }
      });
  const double seconds = process_cpu_s() - start;
  if (!run) return run.error();
  if (failure) return *failure;
  // Client gradients, and reference gradients counted in batches of the client's size.
  const double references =
      static_cast<double>(settings.iterations) / static_cast<double>(settings.server_delay);
  const double batches =
      static_cast<double>(settings.iterations) +
      references * static_cast<double>(settings.trusted_size) / static_cast<double>(settings.batch_size);
  BenchResult result{kName, seconds, "s", 0, "the same gradients in PyTorch, one thread", {}, {}, {}};
  if (baseline.ok()) {
    result.baseline_name = "the same gradients in PyTorch " + baseline->version() + ", one thread";
    result.baseline_value = summarise(steps).median * 1e-3 * batches;
  } else {
    result.no_baseline = baseline.error().message;
  }
  result.conditions = {{"data", which},
                       {"defense", settings.guard},
                       {"iterations", settings.iterations},
                       {"batch", settings.batch_size},
                       {"gradients_of_one_batch", batches},
                       {"includes", "judging, applying and the test on 10,000 samples"},
                       {"threads", 1},
                       {"clock", "process CPU time"}};
  return result;
}

}  // namespace

Result<std::vector<BenchResult>> bench_guard(const BenchGuardOptions& options, const lab::Catalog& catalog,
                                             Progress& progress) {
  std::vector<BenchResult> results;
  TRY(auto small, bench_aflguard("aflguard_140k_us", 140'000, options.rounds, progress));
  results.push_back(std::move(small));
  TRY(auto large, bench_aflguard("aflguard_10m_us", 10'000'000, options.rounds, progress));
  results.push_back(std::move(large));
  TRY(auto five, bench_spanguard("spanguard_140k_us", 5, options.rounds, progress));
  results.push_back(std::move(five));
  TRY(auto span,
      bench_spanguard("spanguard_140k_default_us", SpanGuardOptions{}.directions, options.rounds, progress));
  results.push_back(std::move(span));
  for (const GuardKind& kind : catalog.guards) {
    TRY_STATUS(bench_clients(kind, options.rounds, progress, results));
  }
  if (options.with_run) {
    TRY(auto run, bench_run(options, catalog, progress));
    results.push_back(std::move(run));
  }
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
