#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace aflguard::lab {

/// One experiment, completely: the same settings give the same result.
struct ExperimentSettings {
  std::string dataset;
  std::string guard = "aflguard";
  std::string attack = "none";
  std::uint64_t seed = 1;
  std::size_t clients = 100;          ///< n
  double malicious = 0.2;             ///< fraction of the clients
  std::size_t iterations = 2000;      ///< T; rounds for a synchronous guard
  std::size_t batch_size = 32;        ///< B
  double learning_rate = 1.0 / 3200;  ///< eta, on SUMs of gradients
  double lambda = 1.5;
  std::uint64_t server_delay = 10;  ///< tau_s
  std::uint64_t client_delay = 10;  ///< tau_max
  std::size_t trusted_size = 100;   ///< |X_s|
  double distribution_shift = 0.5;  ///< fraction of the trusted samples that are of the first class
  double non_iid = 0.5;             ///< q of Fang et al.; not used where clients are given by the data
  /// Of honest updates on their way: "float32", "fp16", "int8", "int4", or "auto". Malicious clients send the
  /// numbers that they want, to the bit: more than any rounding of theirs could gain.
  std::string encoding = "float32";
  bool feedback = false;  ///< what rounding lost of an update is added to the client's next one
  /// How samples are given to clients: "" as the paper does for the data set, "iid", "label" (non_iid), or
  /// "column:NAME": each value in that column of a user's table is a client.
  std::string partition = {};
  std::string data_digest = {};  ///< SHA-256 of a user's own files; empty for named data sets
  bool grid = false;             ///< clients get models on a grid, as a gateway publishes them
  std::map<std::string, double> guard_options;
  std::map<std::string, double> attack_options;

  friend bool operator==(const ExperimentSettings&, const ExperimentSettings&) = default;
};

/// How a data set is given to clients.
enum class Partition : std::uint8_t {
  kIid,         ///< equal shares, at random
  kByLabel,     ///< Fang et al.: label l goes to group l with probability q
  kPerSubject,  ///< each subject is a client
};

/// What the lab knows about a data set besides its defaults.
struct LabDataset {
  std::string_view name;
  std::string_view title;  ///< as the paper's tables spell it
  Partition partition = Partition::kByLabel;
  std::string_view zoo_model;
  std::int64_t backdoor_target = 0;  ///< class that the backdoor attack wants
  /// Honest clients whose updates an adaptive attacker averages in one turn: all of them where gradients are
  /// cheap, a sample where each turn would cost more than the rest of the run.
  std::size_t attacker_sample = 0;
};

[[nodiscard]] std::span<const LabDataset> lab_datasets();
/// "FILE.csv" (or .tsv, .txt), or "FEATURES.npy:LABELS.npy": a user's own samples instead of a known data
/// set.
[[nodiscard]] bool is_own_data(std::string_view dataset);

/// A user's own data has one entry for all. kInvalidInput, with the nearest name that exists, when there is
/// none of that name.
[[nodiscard]] Result<const LabDataset*> find_lab_dataset(std::string_view name);

/// The paper's parameters for a data set. Errors as find_lab_dataset().
[[nodiscard]] Result<ExperimentSettings> default_settings(std::string_view dataset);

/// Ranges of every number; names of data set only (guard and attack are checked where they are made).
[[nodiscard]] Status validate(const ExperimentSettings& settings);

/// round(malicious * clients); 0 without an attack.
[[nodiscard]] std::size_t malicious_clients(const ExperimentSettings& settings);

[[nodiscard]] nlohmann::ordered_json to_json(const ExperimentSettings& settings);

/// SHA-256 over all settings, the seed included, and the lab's own version: results with the same fingerprint
/// are results of the same experiment.
[[nodiscard]] std::string fingerprint(const ExperimentSettings& settings);

}  // namespace aflguard::lab
