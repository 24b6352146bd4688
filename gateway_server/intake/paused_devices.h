#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/identity/name_list.h"

namespace aflguard::gateway {

/// The devices whose updates are not taken for now, by the operator's list, read again whenever the file has
/// changed. contains() from any thread, the rest from one.
class PausedDevices final {
 public:
  /// `log` is borrowed. The file may be missing: then none is paused.
  [[nodiscard]] static Result<std::unique_ptr<PausedDevices>> open(const std::filesystem::path& file,
                                                                   LogSink& log);

  [[nodiscard]] bool contains(std::string_view device) const;
  [[nodiscard]] std::size_t size() const;
  /// Reads the list again if it has changed: the devices that are paused no longer. While it cannot be read,
  /// the old one stays in force, and that is logged once.
  [[nodiscard]] std::vector<std::string> refresh();

 private:
  PausedDevices(std::filesystem::path file, LogSink& log) : file_(std::move(file)), log_(log) {}
  using Names = std::shared_ptr<const NameList>;
  [[nodiscard]] Names names() const {
    const std::lock_guard lock(mutex_);
    return names_;
  }
  [[nodiscard]] std::string stamp() const;

  const std::filesystem::path file_;
  LogSink& log_;
  std::string seen_;  ///< what tells one state of the file from the next
  mutable std::mutex mutex_;
  Names names_;
};

}  // namespace aflguard::gateway
