#include "firmware_sim/image/boot_partition.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/child_process.h"
#include "firmware_sim/image/image_plan.h"

namespace aflguard::image {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kSector = 512;

std::string place(const fs::path& image, std::uint64_t offset) {
  return fs::absolute(image).string() + "@@" + std::to_string(offset);
}

/// Runs one of mtools. MTOOLS_SKIP_CHECK: it need not fit the geometry of a disk of the past.
Status mtool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"env", "MTOOLS_SKIP_CHECK=1", "MTOOLSRC=/dev/null"});
  const std::string name = arguments[3];
  TRY(const ProgramOutcome outcome, run_program(arguments, "/"));
  if (outcome.exit_code == 127) return not_found(name + " is missing; install Debian's package mtools");
  if (outcome.exit_code != 0) return io_error(name + ": " + outcome.last_line());
  return {};
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
  std::ifstream in(image, std::ios::binary);
  std::string sector(kSector, '\0');
  if (!in) return not_found("cannot open " + image.string());
  in.read(sector.data(), static_cast<std::streamsize>(sector.size()));
  sector.resize(static_cast<std::size_t>(in.gcount()));
  auto offset = offset_in(sector);
  if (!offset.ok()) return at(image.string(), offset.error());
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

Status put_boot_file(const fs::path& image, std::uint64_t offset, const BootFile& file) {
  TRY(const PrivateFolder folder, PrivateFolder::make());
  const fs::path copy = folder.path() / "content";
  TRY_STATUS(write_file_atomically(copy, file.content, FileAccess::kOwnerOnly));
  return mtool({"mcopy", "-i", place(image, offset), "-o", copy.string(), "::" + file.name});
}

Status take_boot_file(const fs::path& image, std::uint64_t offset, const std::string& name,
                      const fs::path& target) {
  return mtool({"mcopy", "-n", "-i", place(image, offset), "::" + name, target.string()});
}

}  // namespace aflguard::image
