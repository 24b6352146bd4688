#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/book/device_book.h"
#include "core/identity/device_registry.h"
#include "core/identity/name_hash.h"

namespace aflguard::gateway {

/// What has changed in the device book since the last look.
struct BookNews {
  bool everything = false;               ///< another book, or more changes than are worth listing
  std::vector<BookChange> devices = {};  ///< otherwise
};

/// The fleet's device book as the gateway asks it: a key is looked up when it is needed, and enrolment and
/// revocation take effect without a restart. The latest answers are kept. A key whose certificate has ended
/// is found as expired: a broker checks certificates only when a device connects. From any thread, but
/// refresh() from one.
class LiveRegistry final : public DeviceRegistry {
 public:
  /// `clock` and `log` are borrowed.
  [[nodiscard]] static Result<std::unique_ptr<LiveRegistry>> open(const std::filesystem::path& book,
                                                                  const Clock& clock, LogSink& log);

  [[nodiscard]] std::optional<RegisteredKey> find(const KeyId& id) const override;

  /// Looks for changes, which costs the same however many devices there are. While the book cannot be read,
  /// what is known of it stays in force, and that is logged once.
  [[nodiscard]] std::optional<BookNews> refresh();
  /// Devices that are not revoked.
  [[nodiscard]] std::uint64_t enrolled() const;
  /// Their names: reads the whole book.
  using Names = std::unordered_set<std::string, NameHash, std::equal_to<>>;
  [[nodiscard]] Names enrolled_names() const;
  /// In the book and not revoked.
  [[nodiscard]] bool is_enrolled(std::string_view device) const;

 private:
  struct KeyHash {
    std::size_t operator()(const KeyId& id) const;
  };
  LiveRegistry(std::filesystem::path path, DeviceBook book, const Clock& clock, LogSink& log)
      : path_(std::move(path)), clock_(clock), log_(log), book_(std::move(book)) {}
  [[nodiscard]] Result<BookNews> look();
  void forget(const BookNews& news);
  void complain(const Error& reason) const;

  const std::filesystem::path path_;
  const Clock& clock_;
  LogSink& log_;
  mutable std::mutex mutex_;  ///< for everything below
  mutable DeviceBook book_;
  DeviceBook::State state_;
  mutable std::unordered_map<KeyId, BookKey, KeyHash> keys_;  ///< at most kMaxKept
  mutable Names names_;                                       ///< enrolled ones, at most kMaxKept
  mutable std::string complaint_;                             ///< the last that was logged
};

}  // namespace aflguard::gateway
