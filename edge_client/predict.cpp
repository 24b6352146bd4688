#include "edge_client/predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/learning/data/csv_rows.h"
#include "core/learning/evaluation.h"
#include "core/learning/inference_file.h"
#include "core/learning/model_package.h"
#include "core/learning_onnx/onnx_predictor.h"
#include "core/system/atomic_file.h"

namespace aflguard::edge {
namespace {

constexpr std::size_t kRowsAtOnce = 64;
constexpr std::uint64_t kLargestModel = std::uint64_t{1} << 31;
constexpr double kSumOfProbabilities = 1e-3;  // they may differ from 1 by

/// What the model gives are scores, or already probabilities.
std::vector<double> probabilities(std::span<const float> outputs) {
  std::vector<double> shares(outputs.begin(), outputs.end());
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const bool done = std::abs(sum - 1) < kSumOfProbabilities &&
                    std::all_of(shares.begin(), shares.end(), [](double share) { return share >= 0; });
  if (done) return shares;
  const double highest = *std::max_element(shares.begin(), shares.end());
  double total = 0;
  for (double& share : shares) total += share = std::exp(share - highest);
  for (double& share : shares) share /= total;
  return shares;
}

/// For JSON: class names have no quotes and no control characters; messages may.
std::string json_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

class Predictions final {
 public:
  Predictions(const ModelDescription& model, OnnxPredictor predictor, bool json)
      : model_(model), predictor_(std::move(predictor)), json_(json) {}

  Status run(const std::string& name, CsvReader reader, CsvOptions options) {
    options.with_labels = false;
    CsvRows rows(name, options);
    CsvRows::Fields fields;
    bool begun = false;
    while (true) {
      const auto more = reader.next(fields);
      if (!more.ok() && more.error().kind == ErrorKind::kIo) return more.error();
      if (more.ok() && !*more) break;
      if (more.ok() && !begun) {
        TRY(const bool header, rows.begin(reader, fields));
        if (header) continue;
        begun = true;
      }
      const Status added = more.ok() ? rows.add(reader, fields) : Status(more.error());
      if (!added.ok()) {
        TRY_STATUS(flush(rows));
        report(reader.line(), added.error().message);
      } else if (rows.data().size() == kRowsAtOnce) {
        TRY_STATUS(flush(rows));
      }
    }
    TRY_STATUS(flush(rows));
    if (bad_ == 0) return {};
    return invalid_input(std::to_string(bad_) + (bad_ == 1 ? " row was" : " rows were") + " not predicted");
  }

 private:
  Status flush(CsvRows& rows) {
    rows.fill_missing();
    const Dataset& data = rows.data();
    if (data.size() == 0) return {};
    const auto& features = std::get<std::vector<float>>(data.features);
    std::vector<float> outputs(data.size() * model_.output_size());
    TRY_STATUS(predictor_.predict(features, data.size(), outputs));
    for (std::size_t i = 0; i < data.size(); ++i) {
      print(std::span(outputs).subspan(i * model_.output_size(), model_.output_size()));
    }
    std::fflush(stdout);
    rows.keep_newest(0);
    return {};
  }

  void print(std::span<const float> outputs) const {
    if (model_.classes() == 0) {
      std::printf(json_ ? "{\"value\": %.9g}\n" : "%.9g\n", static_cast<double>(outputs.front()));
      return;
    }
    const auto best = static_cast<std::size_t>(predicted_class(outputs));
    const std::string name = model_.class_name(best);
    const double probability = probabilities(outputs)[best];
    if (json_) {
      std::printf("{\"class\": %s, \"number\": %zu, \"probability\": %.6f}\n", json_text(name).c_str(), best,
                  probability);
    } else {
      std::printf("%s %.4f\n", name.c_str(), probability);
    }
  }

  void report(std::size_t line, const std::string& message) {
    ++bad_;
    if (json_) {
      std::printf("{\"error\": %s, \"line\": %zu}\n", json_text(message).c_str(), line);
    } else {
      std::printf("?\n");
    }
    std::fprintf(stderr, "aflguard-client: %s\n", message.c_str());
  }

  const ModelDescription& model_;
  OnnxPredictor predictor_;
  const bool json_;
  std::size_t bad_ = 0;
};

Status check_notes(const std::filesystem::path& path, std::span<const std::byte> file,
                   const ModelDescription& model) {
  const auto notes = read_file_notes(file);
  if (!notes.ok()) return at(path.string(), notes.error());
  for (const auto& [key, value] : *notes) {
    if (key == kNoteLayout && value == model.hash) return {};
  }
  return invalid_input(path.string() + " is not a model of the package '" + model.name +
                       "'; the client writes it again when it has the fleet's newest model");
}

}  // namespace

Status predict_rows(const ClientConfig& config, const std::string& rows, bool json) {
  if (config.model_export.file.empty()) {
    return invalid_input(
        "this device keeps no model to predict with: set [model] export = "
        "\"/var/lib/aflguard/current.onnx\"");
  }
  TRY(const ModelPackage package, read_model_package(config.model_package));
  const std::filesystem::path& path = config.model_export.file;
  auto file = read_file(path, kLargestModel);
  if (!file.ok()) {
    return at("no exported model yet (the client writes it when it has received one)", file.error());
  }
  TRY_STATUS(check_notes(path, *file, package.description));
  TRY(auto runtime, OnnxRuntime::load(config.runtime.value_or(std::filesystem::path())));
  TRY(auto predictor, OnnxPredictor::create(std::move(runtime), *file, package.description, config.threads));
  file->clear();
  file->shrink_to_fit();
  const CsvOptions options = csv_options(config.data, package.description);
  TRY(auto reader,
      CsvReader::open_stream(rows.empty() ? "/dev/stdin" : rows, options.delimiter, options.limits));
  return Predictions(package.description, std::move(predictor), json)
      .run(rows.empty() ? "standard input" : rows, std::move(reader), options);
}

}  // namespace aflguard::edge
