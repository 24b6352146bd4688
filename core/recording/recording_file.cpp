#include "core/recording/recording_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/system/file_descriptor.h"

namespace aflguard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "AFLREC1\n";
constexpr std::string_view kExtension = ".aflrec";
constexpr std::size_t kFrameBytes = 16;  // length and checksum of the entry that follows
constexpr std::uint64_t kMaxEntry = std::uint64_t{1} << 33;

/// Quick enough to be paid for every update; finds damage, not malice.
std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0x9E3779B97F4A7C15ULL ^ bytes.size();
  const auto mix = [&sum](std::uint64_t word) {
    sum = (sum ^ word) * 0xD6E8FEB86659FD93ULL, sum ^= sum >> 32;
  };
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    mix(word);
  }
  for (; at < bytes.size(); ++at) mix(std::to_integer<std::uint64_t>(bytes[at]));
  return sum;
}

Error system_error(const fs::path& path, std::string_view doing) {
  return io_error(path.string() + ": cannot " + std::string(doing) + ": " + std::strerror(errno));
}

fs::path segment_name(unsigned number) {
  char name[32];
  std::snprintf(name, sizeof(name), "segment-%06u%s", number, kExtension.data());
  return name;
}

std::vector<fs::path> segments_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == kExtension) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

Result<std::unique_ptr<RecordingWriter>> RecordingWriter::create(const fs::path& folder,
                                                                 const RecordingHeader& header,
                                                                 std::uint64_t max_bytes) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return io_error(folder.string() + ": cannot be made: " + failed.message());
  unsigned number = 1;
  if (const auto before = segments_in(folder); !before.empty()) {
    unsigned last = 0;
    if (std::sscanf(before.back().stem().c_str(), "segment-%u", &last) == 1) number = last + 1;
  }
  const fs::path path = folder / segment_name(number);
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!file.valid()) return system_error(path, "create it");
  std::unique_ptr<RecordingWriter> writer(new RecordingWriter(std::move(file), path, max_bytes));
  const Status begun = writer->begin(header);
  if (begun.ok()) return writer;
  fs::remove(path, failed);  // there is nothing in it
  return begun.error();
}

Status RecordingWriter::begin(const RecordingHeader& header) {
  if (!write_all(file_.get(), std::as_bytes(std::span(kMagic)))) return system_error(path_, "write");
  bytes_ = kMagic.size();
  return append(encode_entry(header));
}

Status RecordingWriter::append(std::span<const std::byte> entry) {
  if (entry.size() + kFrameBytes > max_bytes_ - std::min(bytes_, max_bytes_)) {
    return io_error(path_.string() + ": the recording has reached its limit of " +
                    std::to_string(max_bytes_) + " bytes; [recording] max_megabytes raises it");
  }
  std::array<std::uint64_t, 2> frame = {entry.size(), checksum(entry)};
  static_assert(sizeof(frame) == kFrameBytes && std::endian::native == std::endian::little);
  if (write_all(file_.get(), std::as_bytes(std::span(frame))) && write_all(file_.get(), entry)) {
    bytes_ += kFrameBytes + entry.size();
    return {};
  }
  const Error failed = system_error(path_, "write");
  // What was written of it goes, and the next entry begins there.
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) == 0) {
    (void)::lseek(file_.get(), static_cast<off_t>(bytes_), SEEK_SET);
  }
  return failed;
}

Result<RecordingReader> RecordingReader::open(const fs::path& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return system_error(path, "read it");
  struct stat info {};
  const std::uint64_t size = ::fstat(file.get(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
  RecordingReader reader(std::move(file), path, size);
  std::array<std::byte, kMagic.size()> magic{};
  const std::size_t begun = std::min<std::uint64_t>(size, magic.size());
  if (!read_exactly(reader.file_.get(), std::span(magic).first(begun)) ||
      std::memcmp(magic.data(), kMagic.data(), begun) != 0) {
    return corrupt(path.string() + ": is not a recording of this version");
  }
  reader.position_ = begun;
  reader.cut_short_ = begun < magic.size();
  return reader;
}

Result<std::optional<RecordingEntry>> RecordingReader::next() {
  if (position_ == size_) return std::optional<RecordingEntry>();
  std::array<std::uint64_t, 2> frame{};
  const auto damaged = [this](std::string_view what) {
    return corrupt(path_.string() + ": entry at byte " + std::to_string(position_) + " " + std::string(what));
  };
  if (size_ - position_ < kFrameBytes) {
    cut_short_ = true;
    return std::optional<RecordingEntry>();
  }
  if (!read_exactly(file_.get(), std::as_writable_bytes(std::span(frame))))
    return system_error(path_, "read");
  if (frame[0] > kMaxEntry) return damaged("is damaged: impossible length");
  if (frame[0] > size_ - position_ - kFrameBytes) {
    cut_short_ = true;
    return std::optional<RecordingEntry>();
  }
  Bytes body(frame[0]);
  if (!read_exactly(file_.get(), body)) return system_error(path_, "read");
  if (checksum(body) != frame[1]) return damaged("is damaged: its checksum does not match");
  auto entry = decode_entry(body);
  if (!entry) return damaged("is damaged: " + entry.error().message);
  position_ += kFrameBytes + body.size();
  return std::optional<RecordingEntry>(std::move(*entry));
}

Result<std::vector<fs::path>> recording_segments(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(path, ignored)) return std::vector<fs::path>{path};
  auto found = segments_in(path);
  if (found.empty()) {
    return not_found(path.string() +
                     ": no recording there; a gateway makes one when its configuration has a "
                     "section [recording]");
  }
  return found;
}

}  // namespace aflguard
