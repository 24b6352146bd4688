#include "bench/bench_bytes.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>

#include "core/base/random.h"
#include "core/base/sha256.h"
#include "core/encoding/model_difference.h"
#include "core/encoding/model_grid.h"
#include "core/encoding/vector_codec.h"
#include "core/envelope/encoded_messages.h"
#include "core/learning_onnx/onnx_trainer.h"
#include "datasets/load.h"
#include "lab/campaigns/lab_resources.h"

namespace aflguard::bench {
namespace {

using Numbers = std::vector<float>;

/// One experiment's updates and models, as devices and gateway would have sent them.
struct Traffic {
  std::vector<Numbers> updates;  ///< of honest clients
  std::vector<Numbers> models;   ///< one version after the other
};

/// Figures of one kind, collected over the traffic.
struct Figure {
  std::vector<double> values;
  void add(double value) { values.push_back(value); }
};

/// CPU time of this thread: what others do on the machine at the time counts less.
double now_us() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) * 1e-3;
}

double microseconds(const std::function<void()>& work) {
  const double begin = now_us();
  work();
  return now_us() - begin;
}

Result<Traffic> make_traffic(const BenchBytesOptions& options, const lab::Catalog& catalog,
                             Progress& progress) {
  TRY(auto settings, lab::default_settings("mnist"));
  settings.iterations = options.updates;
  settings.seed = 41;
  TRY(auto installed, datasets::load_dataset("mnist"));
  const auto data = std::make_shared<const DatasetSplit>(std::move(installed));
  TRY(auto runtime, OnnxRuntime::load());
  const auto make_trainer = [runtime = std::move(runtime)](const ModelPackage& package) {
    return make_onnx_trainer(runtime, package);
  };
  TRY(const auto resources, lab::make_lab_resources(catalog, std::nullopt, make_trainer));
  TRY(const auto model, resources.model("mnist"));
  Traffic traffic;
  const lab::RunObserver observer = [&](std::span<const float> update, std::span<const float> parameters) {
    traffic.updates.emplace_back(update.begin(), update.end());
    traffic.models.emplace_back(parameters.begin(), parameters.end());
  };
  const auto run = lab::run_experiment(
      settings, catalog, model, data,
      [&](std::size_t done, std::size_t total) { progress.show("updates of a run", done, total); }, observer);
  if (!run.ok()) return run.error();
  return traffic;
}

UpdateMessage message_of(const Numbers& vector) {
  UpdateMessage update;
  update.fleet = "bench";
  update.vector = vector;
  return update;
}

BenchResult share(std::string name, const Figure& figure, const std::string& baseline) {
  const Repetitions all = summarise(figure.values);
  BenchResult result{std::move(name), all.median, "", all.spread, baseline, 1.0, {}, {}};
  result.conditions = {{"samples", figure.values.size()}};
  return result;
}

BenchResult time(std::string name, const Figure& ours, std::string baseline, const Figure& theirs) {
  const Repetitions all = summarise(ours.values);
  BenchResult result{std::move(name),
                     all.median,
                     "us",
                     all.spread,
                     std::move(baseline),
                     summarise(theirs.values).median,
                     {},
                     {}};
  result.conditions = {{"samples", ours.values.size()}, {"threads", 1}, {"clock", "thread CPU time"}};
  return result;
}

/// What all encodings of updates are measured by.
struct UpdateFigures {
  Figure plain, packed_ratio, error, encode, decode;
};

Status measure_update(const Numbers& update, Encoding encoding, std::uint64_t seed, UpdateFigures& figures) {
  TRY(const Payload whole, encode(message_of(update)));
  const auto whole_size = static_cast<double>(whole.bytes.size());
  Result<EncodedVector> vector = EncodedVector();
  Result<EncodedVector> small = EncodedVector();
  figures.encode.add(microseconds([&] {
    vector = encode_vector(update, encoding, seed);
    small = packed(*vector);
  }));
  if (!small.ok()) return small.error();
  TRY(const Payload plain, encode_compact(message_of(update), *vector));
  TRY(const Payload compact, encode_compact(message_of(update), *small));
  figures.plain.add(static_cast<double>(plain.bytes.size()) / whole_size);
  figures.packed_ratio.add(static_cast<double>(compact.bytes.size()) / whole_size);
  Result<Numbers> decoded = Numbers();
  figures.decode.add(microseconds([&] {
    decoded = decode_vector({small->encoding, small->count, small->packing, small->bytes}, update.size());
  }));
  if (!decoded.ok()) return decoded.error();
  figures.error.add(relative_error(update, *decoded));
  return {};
}

Result<std::vector<BenchResult>> bench_updates(const Traffic& traffic) {
  std::map<Encoding, UpdateFigures> all;
  Figure copy, hash;
  Numbers target(traffic.updates.front().size());
  std::uint64_t number = 0;
  for (const Numbers& update : traffic.updates) {
    if (number++ % 4 != 0) continue;
    copy.add(microseconds([&] { std::memcpy(target.data(), update.data(), update.size() * sizeof(float)); }));
    hash.add(microseconds([&] { (void)sha256(std::as_bytes(std::span(update))); }));
    for (const Encoding encoding :
         {Encoding::kFloat32, Encoding::kFloat16, Encoding::kInt8, Encoding::kInt4}) {
      TRY_STATUS(measure_update(update, encoding, Random(number).next(), all[encoding]));
    }
  }
  std::vector<BenchResult> results;
  const std::string float32 = "the same update in format 1";
  for (const auto& [encoding, figures] : all) {
    const bool chosen = encoding == Encoding::kInt8;
    const std::string suffix = chosen ? "" : "_" + std::string(to_string(encoding));
    results.push_back(share("update_bytes_ratio" + suffix, figures.plain, float32));
    results.push_back(share("update_bytes_zstd_ratio" + suffix, figures.packed_ratio, float32));
    BenchResult error = share("update_error" + suffix, figures.error, "");
    error.baseline_value.reset();
    results.push_back(std::move(error));
    results.push_back(
        time("update_encode_us" + suffix, figures.encode, "SHA-256 of the same numbers, in our code", hash));
    results.push_back(time("update_decode_us" + suffix, figures.decode, "memcpy of the same numbers", copy));
  }
  return results;
}

struct ModelFigures {
  Figure ratio, encode, decode;
};

Status measure_model(const Numbers& base, const Numbers& model, const ModelGrid* grid,
                     ModelFigures& figures) {
  const auto whole = static_cast<double>(model.size() * sizeof(float));
  Result<ModelDifference> difference = ModelDifference();
  figures.encode.add(microseconds([&] { difference = difference_of(base, model, grid); }));
  if (!difference.ok()) return difference.error();
  figures.ratio.add(static_cast<double>(difference->bytes.size()) / whole);
  Result<Numbers> back = Numbers();
  figures.decode.add(
      microseconds([&] { back = apply_difference(difference->kind, difference->bytes, base); }));
  if (!back.ok()) return back.error();
  if (*back != model) return internal_error("a difference did not give the same model again");
  return {};
}

/// Models one to ten versions apart, along the second half of the run: as they are, and on a grid.
Result<std::vector<BenchResult>> bench_models(const Traffic& traffic) {
  const auto& models = traffic.models;
  const std::size_t begin = models.size() / 2;
  const ModelGrid grid(models[begin - 11], models[begin - 10], 1);
  ModelFigures exact, published, exact_ten, published_ten;
  Figure lost;
  for (std::size_t t = begin; t < models.size(); t += 5) {
    const Numbers on_grid = grid.rounded(models[t]);
    Numbers movement(models[t].size());
    Numbers rounding(models[t].size());
    for (std::size_t i = 0; i < movement.size(); ++i) {
      movement[i] = models[t][i] - models[t - 1][i];
      rounding[i] = movement[i] + on_grid[i] - models[t][i];
    }
    lost.add(relative_error(movement, rounding));
    for (const std::size_t behind : {1, 10}) {
      TRY_STATUS(measure_model(models[t - behind], models[t], nullptr, behind == 1 ? exact : exact_ten));
      TRY_STATUS(measure_model(grid.rounded(models[t - behind]), on_grid, &grid,
                               behind == 1 ? published : published_ten));
    }
  }
  const std::string whole = "the whole model in float32";
  std::vector<BenchResult> results;
  results.push_back(share("model_bytes_lossless_ratio", exact_ten.ratio, whole));
  results.push_back(share("model_bytes_lossless_ratio_one_behind", exact.ratio, whole));
  results.push_back(share("model_bytes_ratio", published_ten.ratio, whole));
  results.push_back(share("model_bytes_ratio_one_behind", published.ratio, whole));
  BenchResult error = share("model_rounding_of_one_update", lost, "");
  error.baseline_value.reset();
  results.push_back(std::move(error));
  Figure copy;
  Numbers target(models.front().size());
  for (int i = 0; i < 25; ++i) {
    copy.add(
        microseconds([&] { std::memcpy(target.data(), models[i].data(), target.size() * sizeof(float)); }));
  }
  results.push_back(time("model_encode_us", published_ten.encode, "memcpy of the same numbers", copy));
  results.push_back(time("model_decode_us", published_ten.decode, "memcpy of the same numbers", copy));
  return results;
}

}  // namespace

Result<std::vector<BenchResult>> bench_bytes(const BenchBytesOptions& options, const lab::Catalog& catalog,
                                             Progress& progress) {
  TRY(const Traffic traffic, make_traffic(options, catalog, progress));
  TRY(auto results, bench_updates(traffic));
  TRY(auto models, bench_models(traffic));
  std::move(models.begin(), models.end(), std::back_inserter(results));
  progress.finish();
  return results;
}

}  // namespace aflguard::bench
