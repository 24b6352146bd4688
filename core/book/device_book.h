#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/identity/device.h"

namespace aflguard {

/// What a key opens, as the book has it.
struct BookKey {
  std::string device;
  PublicKey public_key{};
  bool revoked = false;
  std::chrono::system_clock::time_point not_after;
};

/// A device that was enrolled, changed or revoked.
struct BookChange {
  std::string device;
  bool revoked = false;
};

/// Every device that a fleet has ever enrolled, in one SQLite file. `aflguard device ...` writes it, the
/// gateway reads it while it runs. Each call reads or writes what it names and not the whole; each change is
/// one transaction, on disk when the call returns. Every row has a checksum: kCorrupt when one does not fit.
/// One thread at a time.
class DeviceBook final {
 public:
  /// An empty book; kInvalidInput when there is a file.
  [[nodiscard]] static Status create(const std::filesystem::path& path);
  /// For one writer at a time, which the caller sees to. A JSON book of an older version is imported, and
  /// renamed to "....json.imported". kNotFound when there is neither.
  [[nodiscard]] static Result<DeviceBook> open(const std::filesystem::path& path);
  /// Changes nothing on the disk: a JSON book is read into memory, and of a change that was interrupted
  /// nothing is seen.
  [[nodiscard]] static Result<DeviceBook> open_to_read(const std::filesystem::path& path);
  DeviceBook(DeviceBook&&) noexcept;
  DeviceBook& operator=(DeviceBook&&) noexcept;
  ~DeviceBook();

  /// False when another file has taken its place: open it again.
  [[nodiscard]] bool is_current() const;

  struct State {
    std::string identity;        ///< of this book: another one may have taken its place
    std::uint64_t revision = 0;  ///< one more with every change
    std::uint64_t devices = 0;
    std::uint64_t active = 0;  ///< not revoked
    friend bool operator==(const State&, const State&) = default;
  };
  [[nodiscard]] Result<State> state();

  /// None when there is no device of that name.
  [[nodiscard]] Result<std::optional<Device>> find(std::string_view name);
  [[nodiscard]] Result<std::optional<BookKey>> find_key(const KeyId& id);
  [[nodiscard]] Result<bool> is_active(std::string_view name);
  /// In the order of enrolment, until `take` fails.
  [[nodiscard]] Status each(const std::function<Status(const Device&)>& take);
  [[nodiscard]] Status each_revoked(const std::function<Status(const Device&)>& take);
  /// In the order of names.
  [[nodiscard]] Status each_active_name(const std::function<void(std::string_view)>& take);
  /// Names that begin so, those of revoked devices too.
  [[nodiscard]] Status each_name(const std::string& prefix,
                                 const std::function<void(std::string_view)>& take);
  /// Those that changed since a revision, none when there are more than `limit`.
  [[nodiscard]] Result<std::optional<std::vector<BookChange>>> changed_since(std::uint64_t revision,
                                                                             std::size_t limit);
  /// All of them or none. kInvalidInput when a name or a key is there already, or there would be too many.
  [[nodiscard]] Status add(std::span<const Device> devices);
  /// kInvalidInput when one of the keys is another device's.
  [[nodiscard]] Status set_keys(std::string_view name, std::span<const DeviceKey> keys);
  [[nodiscard]] Status revoke(std::string_view name);

  /// Reads everything. kCorrupt with what does not fit.
  [[nodiscard]] Status check_content();

 private:
  struct Internals;
  explicit DeviceBook(std::unique_ptr<Internals> internals);
  std::unique_ptr<Internals> internals_;
};

}  // namespace aflguard
