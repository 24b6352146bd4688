#include "firmware_sim/image/build_image.h"

#include <algorithm>
#include <random>

#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/folder_lock.h"
#include "firmware_sim/image/base_system.h"
#include "firmware_sim/image/long_command.h"

namespace aflguard::image {
namespace fs = std::filesystem;
namespace {

using std::chrono::system_clock;

constexpr const char* kPath = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::uint64_t kKibibyte = 1024;

struct Tool {
  const char* program;
  const char* package;
};
constexpr Tool kTools[] = {{"mmdebstrap", "mmdebstrap"},
                           {"qemu-aarch64-static", "qemu-user-static"},
                           {"arch-test", "arch-test"},
                           {"sfdisk", "fdisk"},
                           {"mformat", "mtools"},
                           {"mcopy", "mtools"},
                           {"mke2fs", "e2fsprogs"},
                           {"unshare", "util-linux"},
                           {"zstd", "zstd"},
                           {"xz", "xz-utils"},
                           {"dpkg-deb", "dpkg"}};

/// A failing program is an error here.
Result<std::string> output_of(std::vector<std::string> arguments) {
  const std::string name = arguments[0];
  arguments.insert(arguments.begin(), {"env", kPath, "LC_ALL=C"});
  TRY(ProgramOutcome outcome, run_program(arguments, "/"));
  if (outcome.exit_code != 0) return io_error(name + ": " + outcome.last_line());
  return std::move(outcome.output);
}

Status check_tools() {
  std::string missing;
  for (const Tool& tool : kTools) {
    if (output_of({"sh", "-c", "command -v \"$1\"", "sh", tool.program}).ok()) continue;
    if (missing.find(tool.package) == std::string::npos) missing += std::string(" ") + tool.package;
  }
  if (missing.empty()) return {};
  return not_found("making an image needs more programs; run: apt-get install" + missing);
}

/// One build: its folder in the cache, what it was asked for, where it reports.
class Build final {
 public:
  Build(const ImageRequest& order, std::vector<PackageFile> packages, fs::path cache, Progress& progress,
        const std::function<bool()>& stopped)
      : order_(order),
        cache_(std::move(cache)),
        work_(cache_ / "work"),
        progress_(progress),
        stopped_(stopped) {
    built_.packages = std::move(packages);
  }

  Result<BuiltImage> run() {
    TRY_STATUS(clear_work());
    TRY_STATUS(write_scripts());
    TRY_STATUS(provide_base());
    built_.plan = plan_partitions(order_.bytes);
    const fs::path partial = fs::path(order_.output.string() + ".partial");
    auto status = make_image(partial);
    std::error_code error;
    (void)clear_work();
    if (!status.ok()) {
      fs::remove(partial, error);
      return status.error();
    }
    fs::rename(partial, order_.output, error);
    if (!error) return built_;
    const std::string reason = error.message();
    fs::remove(partial, error);  // it may hold a key
    return io_error("cannot write " + order_.output.string() + ": " + reason);
  }

 private:
  [[nodiscard]] std::vector<std::string> inside(std::vector<std::string> command) const {
    command.insert(command.begin(), {"env", kPath, "sh", (work_ / "in_namespace.sh").string()});
    return command;
  }

  /// Files in there may belong to users that only exist in a namespace of this user.
  Status clear_work() {
    std::error_code error;
    if (!fs::exists(work_, error)) return {};
    fs::remove_all(work_, error);
    if (!error) return {};
    TRY_STATUS(write_file_atomically(work_ / "in_namespace.sh", in_namespace_script()));
    (void)run_program(inside({"find", work_.string(), "-mindepth", "1", "-delete"}), "/");
    fs::remove_all(work_, error);
    if (error)
      return io_error("cannot empty " + work_.string() + ": " + error.message() + "; remove it as root");
    return {};
  }

  Status write_scripts() {
    std::error_code error;
    fs::create_directories(work_ / "packages", error);
    if (error) return io_error("cannot make " + work_.string() + ": " + error.message());
    TRY_STATUS(write_file_atomically(work_ / "in_namespace.sh", in_namespace_script()));
    TRY_STATUS(write_file_atomically(work_ / "make_base.sh", make_base_script()));
    TRY_STATUS(write_file_atomically(work_ / "make_root.sh", make_root_script()));
    TRY_STATUS(write_file_atomically(work_ / "native_tools.sh", native_tools_script()));
    for (const PackageFile& package : built_.packages) {
      fs::copy_file(package.file, work_ / "packages" / package.file.filename(),
                    fs::copy_options::overwrite_existing, error);
      if (error) return io_error("cannot copy " + package.file.string() + ": " + error.message());
    }
    TRY_STATUS(write_files(overlay_files()));
    return write_files(order_.root_files);
  }

  Status write_files(const std::vector<ImageFile>& files) const {
    for (const ImageFile& file : files) {
      const fs::path target = work_ / "overlay" / file.path;
      std::error_code error;
      fs::create_directories(target.parent_path(), error);
      TRY_STATUS(write_file_atomically(target, file.content));
      fs::permissions(target, fs::perms(file.executable ? 0755 : 0644), error);
      if (error) return io_error("cannot write " + target.string() + ": " + error.message());
    }
    return {};
  }

  Status provide_base() {
    built_.base = cache_ / ("base-" + order_.suite + "-" +
                            base_key(order_.suite, make_base_script() + std::string(native_tools_script())) +
                            ".tar.zst");
    std::error_code error;
    if (const auto made = fs::last_write_time(built_.base, error); !error && !order_.refresh) {
      built_.base_made = std::chrono::file_clock::to_sys(made);
      built_.base_from_cache = system_clock::now() - built_.base_made < kBaseLifetime;
    }
    if (built_.base_from_cache) return {};
    auto status = make_base();
    if (!status.ok()) return at("making the base system", status.error());
    built_.base_made = system_clock::now();
    return {};
  }

  Status make_base() {
    TRY(const std::string targets,
        output_of({"apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME)", "Identifier: Packages",
                   "Origin: Debian"}));
    TRY(const Mirrors mirrors, find_mirrors(targets));
    TRY_STATUS(write_file_atomically(work_ / "sources.list", package_sources(mirrors, order_.suite)));
    std::string packages;
    for (const std::string& package : base_packages()) packages += (packages.empty() ? "" : ",") + package;
    const fs::path partial = work_ / "base.tar.zst";
    LongCommand command;
    command.arguments = inside({"env", "AFLGUARD_MANIFEST=" + built_.base.string() + ".packages", "sh",
                                (work_ / "make_base.sh").string(), work_.string(), order_.suite,
                                (work_ / "sources.list").string(), packages, partial.string()});
    command.folder = work_;
    command.log = cache_ / "base.log";
    command.read_log = package_progress;
    TRY_STATUS(run_long_command(command, progress_, stopped_));
    std::error_code error;
    fs::rename(partial, built_.base, error);
    if (error) return io_error("cannot write " + built_.base.string() + ": " + error.message());
    return {};
  }

  Status make_image(const fs::path& partial) {
    // An identity is a secret from its first byte on.
    const bool secret = !order_.boot_files.empty();
    TRY_STATUS(write_file_atomically(partial, std::string_view(),
                                     secret ? FileAccess::kOwnerOnly : FileAccess::kShared));
    std::error_code error;
    fs::resize_file(partial, order_.bytes, error);
    if (error) return io_error("cannot make " + partial.string() + " large: " + error.message());
    TRY_STATUS(write_partition_table(partial));
    TRY_STATUS(make_root(partial));
    TRY(const std::string manifest, read_text_file(work_ / "manifest"));
    built_.debian_packages = static_cast<std::size_t>(std::count(manifest.begin(), manifest.end(), '\n'));
    progress_.show("boot partition", 0, 0);
    const PartitionPlan& plan = built_.plan;
    TRY_STATUS(format_boot_partition(partial, plan.boot_offset, plan.boot_bytes));
    TRY_STATUS(fill_boot_partition(partial, plan.boot_offset, work_ / "boot"));
    for (const BootFile& file : order_.boot_files) {
      TRY_STATUS(put_boot_file(partial, plan.boot_offset, file));
    }
    return order_.compress ? compress(partial) : Status();
  }

  Status write_partition_table(const fs::path& partial) {
    std::random_device random;
    const fs::path script = work_ / "partitions";
    TRY_STATUS(write_file_atomically(script, sfdisk_script(built_.plan, random())));
    TRY(const auto ignored,
        output_of({"sh", "-c", "sfdisk --quiet \"$1\" <\"$2\"", "sh", partial.string(), script.string()}));
    (void)ignored;
    return {};
  }

  Status make_root(const fs::path& partial) {
    const PartitionPlan& plan = built_.plan;
    LongCommand command;
    command.arguments = inside({"sh", (work_ / "make_root.sh").string(), work_.string(), built_.base.string(),
                                partial.string(), std::to_string(plan.root_offset),
                                std::to_string(plan.root_bytes / kKibibyte), kRootLabel});
    command.folder = work_;
    command.log = cache_ / "root.log";
    command.read_log = step_progress;
    auto status = run_long_command(command, progress_, stopped_);
    if (!status.ok()) return at("making the root file system", status.error());
    return {};
  }

  Status compress(const fs::path& partial) {
    constexpr const char* kScript =
        "umask 077; xz -T0 -3 -c \"$1\" >\"$1.xz\" && chmod --reference=\"$1\" \"$1.xz\" && mv \"$1.xz\" "
        "\"$1\"";
    LongCommand command;
    command.arguments = {"sh", "-c", kScript, "sh", partial.string()};
    command.folder = work_;
    command.log = cache_ / "compress.log";
    command.read_log = [](const std::string&) { return CommandProgress{"compressing", 0, 0}; };
    auto status = run_long_command(command, progress_, stopped_);
    if (status.ok()) return {};
    std::error_code error;
    fs::remove(partial.string() + ".xz", error);
    return at("compressing", status.error());
  }

  const ImageRequest& order_;
  fs::path cache_;
  fs::path work_;
  Progress& progress_;
  const std::function<bool()>& stopped_;
  BuiltImage built_;
};

Status check_order(const ImageRequest& order) {
  const auto& suites = known_suites();
  if (std::find(suites.begin(), suites.end(), order.suite) == suites.end()) {
    return invalid_input("images are made of Debian '" + suites.front() + "'; '" + order.suite +
                         "' has not been tried");
  }
  const bool named = order.output.extension() == ".xz";
  if (order.compress && !named) {
    return invalid_input("a compressed image's name ends in .xz, as writers of cards expect; '" +
                         order.output.string() + "' does not");
  }
  if (!order.compress && named) {
    return invalid_input("'" + order.output.string() + "' ends in .xz; --compress makes such a file");
  }
  std::error_code error;
  const fs::path folder = fs::absolute(order.output).parent_path();
  if (!fs::is_directory(folder, error)) return not_found("there is no folder " + folder.string());
  if (fs::exists(order.output, error) && !fs::is_regular_file(order.output, error)) {
    return invalid_input(
        order.output.string() +
        " is not a regular file; make the image in a file, and write that to the card with dd");
  }
  return {};
}

}  // namespace

Result<BuiltImage> build_image(const ImageRequest& order, const fs::path& cache, Progress& progress,
                               const std::function<bool()>& stopped) {
  TRY_STATUS(check_order(order));
  TRY(auto packages, look_at_packages(order.packages));
  TRY_STATUS(check_tools());
  ImageRequest absolute = order;
  absolute.output = fs::absolute(order.output);
  progress.show("waiting for another build", 0, 0);
  TRY(const auto lock, FolderLock::acquire(cache));
  auto built = Build(absolute, std::move(packages), fs::absolute(cache), progress, stopped).run();
  progress.finish();
  return built;
}

}  // namespace aflguard::image
