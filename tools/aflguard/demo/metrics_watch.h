#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/base/result.h"
#include "core/transport/message_bus.h"
#include "fleet/folder/fleet_folder.h"
#include "fleet/folder/fleet_settings.h"

namespace aflguard::cli {

/// What a running gateway says about itself, read from the broker as a viewer of its own, so that people can
/// watch the same fleet beside it.
class MetricsWatch final {
 public:
  /// The fleet must have a viewer of this name.
  static constexpr const char* kViewer = "demo";

  [[nodiscard]] static Result<MetricsWatch> start(const fleet::FleetSettings& settings,
                                                  const fleet::FleetFolder& folder);
  MetricsWatch(MetricsWatch&&) noexcept;
  MetricsWatch& operator=(MetricsWatch&&) = delete;
  ~MetricsWatch();

  /// Takes in what has come since the last call; does not wait.
  void refresh();
  /// Messages that the gateway refused before any guard saw them, by reason.
  [[nodiscard]] const std::map<std::string, std::uint64_t>& refused() const { return refused_; }

 private:
  MetricsWatch(std::unique_ptr<LogSink> log, std::unique_ptr<MessageBus> bus);
  std::unique_ptr<LogSink> log_;
  std::unique_ptr<MessageBus> bus_;
  std::map<std::string, std::uint64_t> refused_;
};

}  // namespace aflguard::cli
