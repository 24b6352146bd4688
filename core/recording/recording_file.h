#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/recording/recording.h"
#include "core/system/file_descriptor.h"

namespace aflguard {

/// Appends entries to one recording file, a segment. A segment begins with the whole state, so each can be
/// replayed by itself; a gateway starts a new one each time it starts. Not synced: after a power loss its end
/// may be missing, which the reader notices.
class RecordingWriter final {
 public:
  /// A new segment in `folder` (made if missing), numbered after the last one there; it never grows over
  /// `max_bytes`. After a failure there is no new file.
  [[nodiscard]] static Result<std::unique_ptr<RecordingWriter>> create(const std::filesystem::path& folder,
                                                                       const RecordingHeader& header,
                                                                       std::uint64_t max_bytes = UINT64_MAX);

  /// After a failure the file ends with the last whole entry, and nothing more should be appended.
  [[nodiscard]] Status append(std::span<const std::byte> entry);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  [[nodiscard]] Status begin(const RecordingHeader& header);
  RecordingWriter(FileDescriptor file, std::filesystem::path path, std::uint64_t max_bytes)
      : file_(std::move(file)), path_(std::move(path)), max_bytes_(max_bytes) {}
  FileDescriptor file_;
  std::filesystem::path path_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
};

/// Reads a segment entry by entry.
class RecordingReader final {
 public:
  [[nodiscard]] static Result<RecordingReader> open(const std::filesystem::path& path);

  /// The next entry; none at the end, also when the last one is cut short (see cut_short()). kCorrupt, with
  /// its place, when an entry is damaged.
  [[nodiscard]] Result<std::optional<RecordingEntry>> next();
  /// True when the file ended in the middle of an entry, as after a power loss.
  [[nodiscard]] bool cut_short() const { return cut_short_; }

 private:
  RecordingReader(FileDescriptor file, std::filesystem::path path, std::uint64_t size)
      : file_(std::move(file)), path_(std::move(path)), size_(size) {}
  FileDescriptor file_;
  std::filesystem::path path_;
  std::uint64_t size_;
  std::uint64_t position_ = 0;
  bool cut_short_ = false;
};

/// The segments of a recording in order: `path` itself if it is a file, else those in the folder.
/// kNotFound when there are none.
[[nodiscard]] Result<std::vector<std::filesystem::path>> recording_segments(
    const std::filesystem::path& path);

}  // namespace aflguard
