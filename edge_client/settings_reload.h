#pragma once

#include <filesystem>
#include <mutex>
#include <optional>

#include "core/base/log.h"
#include "core/config/running_config.h"
#include "edge_client/client_config.h"
#include "edge_client/client_engine.h"

namespace aflguard::edge {

/// What of a configuration can change while the client runs.
[[nodiscard]] LiveSettings live_settings(const ClientConfig& config);

/// Reads client.toml again when it is asked to, and says in the log what that changes. A file that is not
/// valid changes nothing.
class SettingsReload final {
 public:
  /// `file`: what the client started with. `log` is borrowed.
  SettingsReload(const ConfigFile& file, std::filesystem::path state_folder, LogSink& log);

  /// From any thread.
  void read();
  /// Settings that were read and not yet taken. From any thread.
  [[nodiscard]] std::optional<LiveSettings> take();
  /// Those that were read last are taken again: for an engine that has just begun.
  void give_again();

 private:
  const std::filesystem::path path_;
  const std::filesystem::path state_folder_;
  LogSink& log_;
  std::mutex mutex_;
  RunningConfig running_;
  std::optional<LiveSettings> fresh_;
  std::optional<LiveSettings> latest_;
};

}  // namespace aflguard::edge
