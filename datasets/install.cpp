#include "datasets/install.h"

#include "core/system/atomic_file.h"
#include "core/system/folder_lock.h"
#include "datasets/load.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;

Result<InstallOutcome> install(const DatasetInfo& info, const InstallContext& context, const Origin& origin,
                               const FileWriter& write_files) {
  TRY(const FolderLock lock, FolderLock::acquire(context.data_dir));
  const fs::path target = context.data_dir / info.name;
  lock.remove_leftovers(target);
  lock.remove_leftovers(context.data_dir / kUnpacked);
  if (!context.force && check_installed(info, context.data_dir).ok()) {
    TRY(const Manifest present, read_manifest(target));
    if (present.origin.seed == origin.seed) return InstallOutcome{target, true};
    return invalid_input("data set '" + info.name + "' is installed with seed " +
                         std::to_string(present.origin.seed) + ", not " + std::to_string(origin.seed) +
                         "; add --force to replace it");
  }
  TRY(StagedDirectory staged, StagedDirectory::create(target, /*replace=*/true));
  TRY_STATUS(write_files(staged.path()));
  context.progress.show("verifying " + info.name, 0, 0);
  TRY_STATUS([&]() -> Status {
    TRY(const DatasetSplit loaded, load_folder(info, staged.path()));
    return {};
  }());
  TRY_STATUS(write_manifest(staged.path(), info.name, origin));
  TRY_STATUS(staged.commit());
  return InstallOutcome{target, false};
}

}  // namespace aflguard::datasets
