#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/aggregation/guard_kind.h"
#include "core/base/log.h"
#include "core/base/result.h"
#include "core/config/config_file.h"
#include "core/encoding/encoding.h"
#include "core/learning/dataset_files.h"

namespace aflguard::gateway {

/// gateway.toml as values; gateway_server/gateway.example.toml explains every key.
struct GatewaySettings {
  using Seconds = std::chrono::duration<double>;

  struct Broker {
    std::string host;
    std::uint16_t port = 8883;
    std::string protocol = "auto";  ///< "auto", "5" or "3.1.1"
  };
  struct Identity {
    std::filesystem::path certificate;
    std::filesystem::path key;
    std::filesystem::path ca;
    std::filesystem::path release;  ///< may be missing: then no models are taken from the broker
  };
  struct Model {
    std::filesystem::path package;
    std::optional<std::filesystem::path> initial;  ///< .npy with the first parameters
    std::optional<std::filesystem::path> runtime;  ///< libonnxruntime
    std::uint64_t seed = 1;
    int threads = 1;
  };
  struct Training {
    double learning_rate = 0;
    std::uint32_t batch_size = 32;
    std::uint32_t local_steps = 1;
    EncodingSet taken = EncodingSet::all();  ///< of updates
    double updates_per_second = 0;           ///< that the fleet needs: more devices take turns; 0: no limit
  };
  struct Guard {
    std::string name = "aflguard";
    double lambda = 1.5;
    std::uint64_t reference_interval = 10;
    double reference_share = 0.1;  ///< of one core's time, at most, that goes into reference updates
    std::uint64_t max_delay = 1000;
    std::uint64_t history = 32;  ///< versions kept for guards that look at base models
    Seconds voter_timeout{
        604'800};  ///< silent devices are no longer counted by guards that compare; 0: never
    OptionValues options;
  };
  struct Evaluation {
    DatasetFiles data;
    Seconds interval{10};
    std::size_t samples = 2000;
  };
  struct Store {
    std::filesystem::path file;
    std::uint64_t keep_verdicts = 1'000'000;
  };
  /// Models that came through the broker, beside the store.
  [[nodiscard]] std::filesystem::path models_folder() const { return store.file.parent_path() / "models"; }
  struct Recording {
    std::filesystem::path folder;
    std::uint64_t max_bytes = 0;
  };
  struct Limits {
    std::size_t update_bytes = 16u << 20;    ///< largest envelope; a smaller model lowers it
    std::size_t inbox_bytes = 256u << 20;    ///< unfinished transfers of all devices
    std::size_t device_bytes = 32u << 20;    ///< unfinished transfers of one device
    std::size_t waiting_updates = 0;         ///< complete, not yet judged; 0: as many as the bytes allow
    std::size_t waiting_bytes = 256u << 20;  ///< the same, in bytes
    std::size_t device_updates = 2;          ///< of one device among those that wait
    std::uint64_t device_bytes_per_day = 0;  ///< up and down, of one device; 0: no limit
    std::size_t outbox_bytes = 128u << 20;   ///< answers on their way
    Seconds silence{120};
    std::size_t workers = 0;      ///< threads that verify; 0: from the number of cores
    std::set<std::string> given;  ///< keys that the file has; the others are fitted to the model
  };
  struct Replies {
    double models_per_second = 100;
    Seconds retained_model_interval{1};
    std::size_t history_bytes = 64u << 20;  ///< versions that differences are made from
    bool grid = false;                      ///< devices get models on a grid
  };

  struct Alerts {
    std::vector<std::string> command;
    std::optional<std::string> webhook;
    double per_hour = 20;
    Seconds lost{300};
    double certificate_days = 7;
    double disk_free = 0.05;
  };

  std::string fleet;
  Broker broker;
  Identity identity;
  std::filesystem::path device_book;
  std::filesystem::path paused_devices;
  Model model;
  Training training;
  Guard guard;
  std::optional<DatasetFiles> trusted;
  std::optional<Evaluation> evaluation;
  Store store;
  std::optional<Recording> recording;
  Limits limits;
  Replies replies;
  Seconds telemetry_interval{2};
  bool keep_history = true;
  std::optional<std::string> metrics_listen;         ///< address for /metrics and /healthz
  std::optional<std::string> home_assistant_prefix;  ///< of discovery topics
  std::optional<Alerts> alerts;
  LogLevel log_level = LogLevel::kInfo;
};

/// kInvalidInput with file, line and what to do for the first thing that is wrong.
[[nodiscard]] Result<GatewaySettings> read_gateway_settings(ConfigFile& file);
[[nodiscard]] Result<GatewaySettings> read_gateway_settings(const std::filesystem::path& file);

/// Keys and sections that can change while a gateway runs, as RunningConfig knows them.
[[nodiscard]] const std::set<std::string>& live_gateway_keys();
/// Copies what these keys say from `fresh` into the settings that a gateway works with.
void take_live_settings(const GatewaySettings& fresh, GatewaySettings& running);

/// The rule and everything that its state depends on, as one text.
[[nodiscard]] std::string guard_text(const GatewaySettings& settings);

}  // namespace aflguard::gateway
