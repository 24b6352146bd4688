#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/log.h"
#include "core/config/config_file.h"
#include "core/learning/dataset_files.h"
#include "edge_client/collecting/topic_rows.h"
#include "edge_client/exporting/model_export.h"
#include "edge_client/sending/update_encoding.h"
#include "edge_client/training/training_schedule.h"

namespace aflguard::edge {

/// Where rows come from besides a growing table: a topic of a broker that the board can reach.
struct TopicSource {
  TopicSettings rows;
  std::string host;
  std::uint16_t port = 1883;
  std::optional<std::filesystem::path> ca;  ///< with it and both below the connection is TLS
  std::filesystem::path certificate;
  std::filesystem::path key;
};

/// Everything that client.toml can say; edge_client/client.example.toml explains each key.
struct ClientConfig {
  std::string fleet;
  std::string device;

  std::string host;
  std::uint16_t port = 8883;
  std::string protocol;  ///< "auto", "5" or "3.1.1"
  std::chrono::milliseconds answer_wait{0};

  std::filesystem::path certificate;
  std::filesystem::path key;
  std::filesystem::path ca;
  std::filesystem::path gateway_keys;
  std::filesystem::path release_keys;  ///< may be missing: then no models are taken from the fleet

  std::filesystem::path model_package;
  int threads = 1;  ///< that share one training step
  std::optional<std::filesystem::path> runtime;

  ExportSettings model_export;

  DatasetFiles data;
  bool follow = false;
  std::size_t keep_samples = 0;
  double hold_back = 0;  ///< the share of the samples that is only measured on
  std::optional<TopicSource> topic;

  ScheduleSettings schedule;
  std::optional<std::uint64_t> seed;
  EncodingWish encoding;

  std::filesystem::path state_folder;
  std::chrono::milliseconds status_interval{0};
  LogLevel log_level = LogLevel::kInfo;
};

/// As many threads as `cpu_limit` allows whole cores, of those there are (0: not known); at least 1. With
/// less than two cores' worth, more threads would only make the bursts shorter.
[[nodiscard]] int default_threads(double cpu_limit, unsigned cores);

/// client.toml with what the board's owner wrote beside it, in client.local.toml: a bundle replaces the one,
/// and never the other. Where both have a key, the latter's counts.
[[nodiscard]] Result<ConfigFile> read_client_file(const std::filesystem::path& path);

/// Asks `file` for every key; the file collects what is wrong. Use the result only if file.finish() succeeds.
/// `state` is where state goes when the file does not say.
[[nodiscard]] ClientConfig read_client_config(ConfigFile& file, const std::filesystem::path& state = "state");

}  // namespace aflguard::edge
