#include "firmware_sim/image/boot_partition.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/file_descriptor.h"
#include "firmware_sim/image/fat_clusters.h"
#include "firmware_sim/image/image_plan.h"

namespace aflguard::image {
namespace fs = std::filesystem;
namespace {

std::string place(const fs::path& image, std::uint64_t offset) {
  return fs::absolute(image).string() + "@@" + std::to_string(offset);
}

/// What one of mtools prints. MTOOLS_SKIP_CHECK: it need not fit the geometry of a disk of the past.
Result<std::string> mtool_output(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"env", "MTOOLS_SKIP_CHECK=1", "MTOOLSRC=/dev/null"});
  const std::string name = arguments[3];
  TRY(ProgramOutcome outcome, run_program(arguments, "/"));
  if (outcome.exit_code == 127) return not_found(name + " is missing; install Debian's package mtools");
  if (outcome.exit_code != 0) return io_error(name + ": " + outcome.last_line());
  return std::move(outcome.output);
}

Status mtool(std::vector<std::string> arguments) {
  const auto output = mtool_output(std::move(arguments));
  return output.ok() ? Status() : Status(output.error());
}

/// An image file or a card, open.
class Medium final {
 public:
  static Result<Medium> open(const fs::path& path, int mode) {
    FileDescriptor file(::open(path.c_str(), mode | O_CLOEXEC));
    if (file.valid()) return Medium(path, std::move(file));
    const std::string text = "cannot open " + path.string() + ": " + std::strerror(errno);
    if (errno == ENOENT) return not_found(text);
    return io_error(text + (errno == EACCES ? "; cards belong to root: try it with sudo" : ""));
  }
  [[nodiscard]] std::string sector(std::uint64_t offset) const {
    std::string bytes(kSector, '\0');
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return bytes;
  }
  [[nodiscard]] std::uint64_t bytes() const {
    const off_t end = ::lseek(file_.get(), 0, SEEK_END);
    return end < 0 ? 0 : static_cast<std::uint64_t>(end);
  }
  [[nodiscard]] Status clear(std::uint64_t offset, std::uint64_t bytes) const {
    const std::string zeros(kClearBytes, '\0');
    while (bytes > 0) {
      const std::size_t part = std::min<std::uint64_t>(bytes, zeros.size());
      const ssize_t written = ::pwrite(file_.get(), zeros.data(), part, static_cast<off_t>(offset));
      if (written <= 0) return io_error("cannot write " + path_.string() + ": " + std::strerror(errno));
      offset += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::uint64_t>(written);
    }
    return {};
  }
  [[nodiscard]] Status sync() const {
    if (::fsync(file_.get()) == 0) return {};
    return io_error("cannot write " + path_.string() + ": " + std::strerror(errno));
  }

 private:
  static constexpr std::size_t kClearBytes = 64 << 10;
  Medium(fs::path path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}
  fs::path path_;
  FileDescriptor file_;
};

/// Removes a file, if there is one, so that its content is gone, too: it may be a key.
Status erase_boot_file(const fs::path& image, std::uint64_t offset, const std::string& name) {
  if (!mtool({"mdir", "-b", "-i", place(image, offset), "::" + name}).ok()) return {};
  TRY(const std::string listing, mtool_output({"mshowfat", "-i", place(image, offset), "::" + name}));
  TRY(const Medium medium, Medium::open(image, O_RDWR));
  TRY(const auto ranges, file_ranges(medium.sector(offset), listing));
  for (const ByteRange& range : ranges) TRY_STATUS(medium.clear(offset + range.offset, range.bytes));
  TRY_STATUS(medium.sync());
  return mtool({"mdel", "-i", place(image, offset), "::" + name});
}

bool is_compressed(const std::string& begin) {
  return begin.starts_with(
             "\xfd"
             "7zXZ") ||
         begin.starts_with("\x1f\x8b") || begin.starts_with("\x28\xb5\x2f\xfd");
}

/// A folder that only this user can read and that goes with the object: identities pass through it.
class PrivateFolder final {
 public:
  static Result<PrivateFolder> make() {
    std::string name = (fs::temp_directory_path() / "aflguard-boot-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) return io_error("cannot make a temporary folder " + name);
    return PrivateFolder(name);
  }
  PrivateFolder(PrivateFolder&& other) noexcept { std::swap(path_, other.path_); }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  PrivateFolder(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit PrivateFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

Result<std::uint64_t> find_partition(const fs::path& image,
                                     Result<std::uint64_t> (*offset_in)(const std::string& first_sector)) {
  TRY(const Medium medium, Medium::open(image, O_RDONLY));
  const std::string sector = medium.sector(0);
  if (is_compressed(sector)) return invalid_input(image.string() + " is compressed; unpack it first");
  auto offset = offset_in(sector);
  if (!offset.ok()) return at(image.string(), offset.error());
  const std::uint64_t end = partitions_end(sector);
  if (end > medium.bytes()) {
    return invalid_input(image.string() + " is cut off: its partitions end at byte " + std::to_string(end) +
                         ", and it has " + std::to_string(medium.bytes()));
  }
  return offset;
}

}  // namespace

Result<std::uint64_t> find_boot_partition(const fs::path& image) {
  return find_partition(image, boot_partition_offset);
}

Result<std::uint64_t> find_root_partition(const fs::path& image) {
  return find_partition(image, root_partition_offset);
}

Status format_boot_partition(const fs::path& image, std::uint64_t offset, std::uint64_t bytes) {
  return mtool({"mformat", "-i", place(image, offset), "-F", "-v", kBootLabel, "-T",
                std::to_string(bytes / kSector), "-h", "64", "-s", "32", "-H",
                std::to_string(offset / kSector), "::"});
}

Status fill_boot_partition(const fs::path& image, std::uint64_t offset, const fs::path& folder) {
  std::vector<std::string> arguments = {"mcopy", "-i", place(image, offset), "-s", "-Q", "-o"};
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().string());
  }
  if (error) return io_error("cannot list " + folder.string() + ": " + error.message());
  std::sort(names.begin(), names.end());
  arguments.insert(arguments.end(), names.begin(), names.end());
  arguments.emplace_back("::");
  return mtool(std::move(arguments));
}

Result<std::string> boot_partition_label(const fs::path& image, std::uint64_t offset) {
  TRY(const std::string output, mtool_output({"mlabel", "-s", "-i", place(image, offset), "::"}));
  constexpr std::string_view kBefore = "Volume label is ";
  const std::size_t at = output.find(kBefore);
  if (at == std::string::npos) return std::string();
  std::string label = output.substr(at + kBefore.size());
  label.erase(std::min(label.find_first_of(" \n("), label.size()));
  return label;
}

Status put_boot_file(const fs::path& image, std::uint64_t offset, const BootFile& file) {
  TRY(const PrivateFolder folder, PrivateFolder::make());
  const fs::path copy = folder.path() / "content";
  TRY_STATUS(write_file_atomically(copy, file.content, FileAccess::kOwnerOnly));
  // Under another name first: where there is no room for it, the old one stays.
  const std::string incoming = file.name + ".new";
  TRY_STATUS(erase_boot_file(image, offset, incoming));  // of a command that was killed
  const Status put = mtool({"mcopy", "-i", place(image, offset), copy.string(), "::" + incoming});
  if (!put.ok()) {
    (void)erase_boot_file(image, offset, incoming);
    return at(std::to_string(file.content.size()) + " bytes for the boot partition of " + image.string(),
              put.error());
  }
  TRY_STATUS(erase_boot_file(image, offset, file.name));
  TRY_STATUS(mtool({"mren", "-i", place(image, offset), "::" + incoming, "::" + file.name}));
  TRY(const Medium medium, Medium::open(image, O_RDWR));
  return medium.sync();
}

Status take_boot_file(const fs::path& image, std::uint64_t offset, const std::string& name,
                      const fs::path& target) {
  return mtool({"mcopy", "-n", "-i", place(image, offset), "::" + name, target.string()});
}

}  // namespace aflguard::image
