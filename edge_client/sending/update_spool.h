#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/identity/signature.h"
#include "core/system/file_lock.h"

namespace aflguard::edge {

/// Who sealed an update. The envelope does not say so: it names its key by a hash, and by the time it is read
/// again the board may have another key or be another device.
struct UpdateAuthor {
  std::string device;
  PublicKey key{};

  friend bool operator==(const UpdateAuthor&, const UpdateAuthor&) = default;
};

/// One sealed update that waits for its verdict.
struct SpooledUpdate {
  std::uint64_t sequence = 0;
  Bytes envelope;
  std::optional<UpdateAuthor> author;  ///< nothing in files that were written before it was noted
};

/// Keeps the one outstanding update of a device through power loss, and the highest sequence number it ever
/// used. In its folder: N.update is update N, N.done the last one whose verdict has come. Renaming the one to
/// the other needs no space and no sync: after a power loss at the wrong moment the update goes out again,
/// and the gateway answers with the verdict it stored.
class UpdateSpool final {
 public:
  /// Makes the folder, and holds it for this process alone: kUnavailable when another one has it. A file that
  /// is damaged is put aside as N.damaged, never sent; its number counts as used.
  [[nodiscard]] static Result<UpdateSpool> open(const std::filesystem::path& folder);

  /// The update that was waiting when the spool was opened, once.
  [[nodiscard]] std::optional<SpooledUpdate> take_waiting() { return std::exchange(waiting_, std::nullopt); }
  /// What open() found wrong, one line each.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// The number for the next update.
  [[nodiscard]] std::uint64_t next_sequence() const { return last_sequence_ + 1; }
  /// The gateway has judged `sequence`: later updates go above it.
  void raise_sequence(std::uint64_t sequence) { last_sequence_ = std::max(last_sequence_, sequence); }

  /// Durable when this returns success. `sequence` is at least next_sequence(). kIo, e.g. when the disk is
  /// full: nothing has changed then.
  [[nodiscard]] Status store(std::uint64_t sequence, const UpdateAuthor& author,
                             std::span<const std::byte> envelope);
  /// The verdict for `sequence` has come, or none ever will: it is not given out again, and its number counts
  /// as used.
  void finish(std::uint64_t sequence);

 private:
  UpdateSpool(std::filesystem::path folder, FileLock lock)
      : folder_(std::move(folder)), lock_(std::move(lock)) {}
  [[nodiscard]] Status scan();
  [[nodiscard]] std::filesystem::path file(std::uint64_t sequence, const char* kind) const;
  void put_aside(const std::filesystem::path& path, const std::string& why);
  void remove_all_but(std::uint64_t sequence);

  std::filesystem::path folder_;
  FileLock lock_;
  std::uint64_t last_sequence_ = 0;
  std::optional<SpooledUpdate> waiting_;
  std::vector<std::string> warnings_;
};

}  // namespace aflguard::edge
