#include "edge_client/settings_reload.h"

#include <utility>

namespace aflguard::edge {
namespace {

// What live_settings() takes from the file.
const std::set<std::string> kLive = {"[training] interval_seconds", "[training] quiet_hours",
                                     "[training] cpu_limit",        "[training] encoding",
                                     "[broker] answer_seconds",     "[status] interval_seconds"};

}  // namespace

LiveSettings live_settings(const ClientConfig& config) {
  return {.schedule = config.schedule,
          .answer = {.shortest = config.answer_wait, .longest = 10 * config.answer_wait},
          .status_interval = config.status_interval,
          .encoding = config.encoding};
}

SettingsReload::SettingsReload(const ConfigFile& file, std::filesystem::path state_folder, LogSink& log)
    : path_(file.path()), state_folder_(std::move(state_folder)), log_(log), running_(file, kLive) {}

void SettingsReload::read() {
  auto file = read_client_file(path_);
  if (!file.ok()) return log_.error("settings stay as they are: " + file.error().message);
  const ClientConfig config = read_client_config(*file, state_folder_);
  if (const Status valid = file->finish(); !valid.ok()) {
    return log_.error("settings stay as they are: " + valid.error().message);
  }
  const std::lock_guard lock(mutex_);
  log_.info(running_.follow(*file).text());
  fresh_ = latest_ = live_settings(config);
}

void SettingsReload::give_again() {
  const std::lock_guard lock(mutex_);
  fresh_ = latest_;
}

std::optional<LiveSettings> SettingsReload::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fresh_, std::nullopt);
}

}  // namespace aflguard::edge
