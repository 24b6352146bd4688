#include "lab/tasks/settings.h"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/base/nearest_name.h"
#include "core/base/sha256.h"
#include "core/encoding/encoding.h"

namespace aflguard::lab {
namespace {

// Raised whenever a change makes the same settings give other results.
constexpr int kLabVersion = 2;  // 2: SpanGuard watches 8 directions, and waits for a quorum

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

constexpr std::array<LabDataset, 6> kDatasets = {{
    {"synthetic", "synthetic", Partition::kIid, "linear-regression", 0, kAll},
    {"mnist", "MNIST", Partition::kByLabel, "cnn", 0, 20},
    {"fashion-mnist", "Fashion-MNIST", Partition::kByLabel, "cnn", 0, 10},
    {"har", "HAR", Partition::kPerSubject, "logistic-regression", 1, kAll},  // target: walking upstairs
    {"colorectal", "Colorectal Histology MNIST", Partition::kByLabel, "resnet20", 0, 5},
    {"cifar-10", "CIFAR-10", Partition::kByLabel, "resnet20", 2, 5},  // target: bird
}};

constexpr LabDataset kOwnData = {"own data", "own data", Partition::kByLabel, "", 0, 20};

struct Parameters {
  std::string_view dataset;
  std::size_t clients;
  std::size_t iterations;
  std::size_t batch_size;
  double learning_rate;
  double lambda;
};

// Section "Parameter Setting" of the paper.
constexpr std::array<Parameters, 6> kParameters = {{
    {"synthetic", 100, 2000, 16, 1.0 / 1600, 1.5},
    {"mnist", 100, 2000, 32, 1.0 / 3200, 1.5},
    {"fashion-mnist", 100, 6000, 64, 1.0 / 3200, 1.8},
    {"har", 30, 1000, 32, 1.0 / 320, 1.5},
    {"colorectal", 40, 20000, 32, 1.0 / 3200, 1.8},
    {"cifar-10", 40, 20000, 64, 1.0 / 3200, 1.8},
}};

Status check_range(std::string_view what, double value, double low, double high) {
  if (value >= low && value <= high) return {};
  nlohmann::json numbers = {value, low, high};  // the shortest form that reads back equal
  return invalid_input(std::string(what) + " is " + numbers[0].dump() + ", it must be from " +
                       numbers[1].dump() + " to " + numbers[2].dump());
}

}  // namespace

std::span<const LabDataset> lab_datasets() {
  return kDatasets;
}

bool is_own_data(std::string_view dataset) {
  for (const std::string_view ending : {".csv", ".tsv", ".txt"}) {
    if (dataset.ends_with(ending)) return true;
  }
  return dataset.find(".npy:") != std::string_view::npos && dataset.ends_with(".npy");
}

Result<const LabDataset*> find_lab_dataset(std::string_view name) {
  if (is_own_data(name)) return &kOwnData;
  std::vector<std::string_view> names;
  for (const LabDataset& dataset : kDatasets) {
    if (dataset.name == name) return &dataset;
    names.push_back(dataset.name);
  }
  return invalid_input(unknown_name("data set", name, names));
}

Result<ExperimentSettings> default_settings(std::string_view dataset) {
  TRY(const LabDataset* known, find_lab_dataset(dataset));
  ExperimentSettings settings;
  settings.dataset = is_own_data(dataset) ? dataset : known->name;
  for (const Parameters& parameters : kParameters) {
    if (parameters.dataset != dataset) continue;
    settings.clients = parameters.clients;
    settings.iterations = parameters.iterations;
    settings.batch_size = parameters.batch_size;
    settings.learning_rate = parameters.learning_rate;
    settings.lambda = parameters.lambda;
  }
  return settings;
}

Status validate(const ExperimentSettings& settings) {
  if (auto known = find_lab_dataset(settings.dataset); !known) return known.error();
  TRY_STATUS(check_range("the malicious fraction", settings.malicious, 0, 1));
  TRY_STATUS(check_range("the number of clients", static_cast<double>(settings.clients), 1, 1e6));
  TRY_STATUS(check_range("the number of iterations", static_cast<double>(settings.iterations), 1, 1e8));
  TRY_STATUS(check_range("the batch size", static_cast<double>(settings.batch_size), 1, 1e6));
  TRY_STATUS(check_range("the learning rate", settings.learning_rate, 1e-12, 1e6));
  TRY_STATUS(check_range("lambda", settings.lambda, 1e-9, 1e9));
  TRY_STATUS(check_range("the server delay", static_cast<double>(settings.server_delay), 0, 1e6));
  TRY_STATUS(check_range("the client delay", static_cast<double>(settings.client_delay), 0, 1e4));
  TRY_STATUS(check_range("the trusted size", static_cast<double>(settings.trusted_size), 1, 1e7));
  TRY_STATUS(check_range("the distribution shift", settings.distribution_shift, 0, 1));
  const std::string& partition = settings.partition;
  if (!partition.empty() && partition != "iid" && partition != "label" && !partition.starts_with("column:")) {
    return invalid_input("partition '" + partition + "' is not iid, label or column:NAME");
  }
  if (partition.starts_with("column:") && !is_own_data(settings.dataset)) {
    return invalid_input("partition '" + partition + "' is for tables of your own, not for data set '" +
                         settings.dataset + "'");
  }
  if (settings.encoding != "auto" && !parse_encoding(settings.encoding)) {
    return invalid_input("encoding '" + settings.encoding + "' is not auto, float32, fp16, int8 or int4");
  }
  return check_range("the non-iid degree", settings.non_iid, 0, 1);
}

std::size_t malicious_clients(const ExperimentSettings& settings) {
  if (settings.attack == "none") return 0;
  return static_cast<std::size_t>(std::llround(settings.malicious * static_cast<double>(settings.clients)));
}

nlohmann::ordered_json to_json(const ExperimentSettings& settings) {
  nlohmann::ordered_json json = {{"dataset", settings.dataset},
                                 {"defense", settings.guard},
                                 {"attack", settings.attack},
                                 {"seed", settings.seed},
                                 {"clients", settings.clients},
                                 {"malicious", settings.malicious},
                                 {"iterations", settings.iterations},
                                 {"batch_size", settings.batch_size},
                                 {"learning_rate", settings.learning_rate},
                                 {"lambda", settings.lambda},
                                 {"server_delay", settings.server_delay},
                                 {"client_delay", settings.client_delay},
                                 {"trusted_size", settings.trusted_size},
                                 {"distribution_shift", settings.distribution_shift},
                                 {"non_iid", settings.non_iid},
                                 {"defense_options", settings.guard_options},
                                 {"attack_options", settings.attack_options}};
  // Only where they are used: what was stored before they were there keeps its fingerprint.
  if (settings.encoding != "float32") json["encoding"] = settings.encoding;
  if (settings.feedback) json["feedback"] = true;
  if (settings.grid) json["grid"] = true;
  if (!settings.partition.empty()) json["partition"] = settings.partition;
  if (!settings.data_digest.empty()) json["data_digest"] = settings.data_digest;
  return json;
}

std::string fingerprint(const ExperimentSettings& settings) {
  nlohmann::ordered_json json = to_json(settings);
  json["lab_version"] = kLabVersion;
  return sha256_hex(json.dump());
}

}  // namespace aflguard::lab
