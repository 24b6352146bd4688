#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/identity/device_registry.h"

namespace aflguard::gateway {

/// The keys of the fleet's device book, read again whenever the file has changed: enrolment and revocation
/// take effect without a restart. A key whose certificate has ended is found as expired: a broker checks
/// certificates only when a device connects. find() from any thread, the rest from one.
class LiveRegistry final : public DeviceRegistry {
 public:
  /// `clock` and `log` are borrowed.
  [[nodiscard]] static Result<std::unique_ptr<LiveRegistry>> open(const std::filesystem::path& book,
                                                                  const Clock& clock, LogSink& log);

  [[nodiscard]] std::optional<RegisteredKey> find(const KeyId& id) const override;

  /// Reads the book again if it has changed. While it cannot be read, the old one stays in force, and that
  /// is logged once.
  /// True when there is a new book in force.
  bool refresh();
  /// Devices that are not revoked.
  [[nodiscard]] std::uint64_t enrolled() const;
  /// Their names.
  [[nodiscard]] std::vector<std::string> enrolled_names() const;
  /// In the book and not revoked. From any thread.
  [[nodiscard]] bool is_enrolled(std::string_view device) const;

 private:
  struct Stamp {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct Keys {
    KeyTable table;
    std::map<KeyId, std::chrono::system_clock::time_point> not_after;
    std::set<std::string, std::less<>> enrolled;
  };
  LiveRegistry(std::filesystem::path book, const Clock& clock, LogSink& log)
      : book_(std::move(book)), clock_(clock), log_(log) {}
  [[nodiscard]] Stamp stamp() const;
  [[nodiscard]] Result<std::shared_ptr<const Keys>> read() const;
  [[nodiscard]] std::shared_ptr<const Keys> keys() const {
    const std::lock_guard lock(mutex_);
    return keys_;
  }

  std::filesystem::path book_;
  const Clock& clock_;
  LogSink& log_;
  Stamp seen_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Keys> keys_;
};

}  // namespace aflguard::gateway
