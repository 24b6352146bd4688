#include "datasets/mnist.h"

#include "core/base/sha256.h"
#include "core/system/atomic_file.h"
#include "datasets/gzip_zlib.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kTrainImages = 16 + 60000 * 28 * 28;
constexpr std::uint64_t kTestImages = 16 + 10000 * 28 * 28;
constexpr std::uint64_t kTrainLabels = 8 + 60000;
constexpr std::uint64_t kTestLabels = 8 + 10000;

Result<std::vector<std::byte>> read_plain_or_gzip(const PinnedFile& file, const fs::path& source) {
  const fs::path plain = source / file.name;
  const fs::path packed = source / (file.name + ".gz");
  std::error_code error;
  if (fs::exists(plain, error)) return read_file(plain);
  if (!fs::exists(packed, error)) {
    return not_found("neither " + file.name + " nor " + file.name + ".gz is in " + source.string());
  }
  TRY(const auto compressed, read_file(packed));
  auto content = gunzip(compressed, file.bytes);
  if (!content.ok()) return at(packed.string(), content.error());
  return content;
}

Status verify_content(const PinnedFile& file, const fs::path& source, const std::vector<std::byte>& content) {
  const std::string path = (source / file.name).string();
  if (content.size() != file.bytes) {
    return corrupt(path + " has " + std::to_string(content.size()) + " bytes, expected " +
                   std::to_string(file.bytes) + "; get the published file");
  }
  const std::string found = sha256_hex(content);
  if (found == file.sha256) return {};
  return corrupt(path + " has SHA-256 " + found + ", expected " + file.sha256 + "; get the published file");
}

}  // namespace

const std::vector<PinnedFile>& mnist_files() {
  static const std::vector<PinnedFile> files = {
      {"train-images-idx3-ubyte", kTrainImages,
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
      {"train-labels-idx1-ubyte", kTrainLabels,
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
      {"t10k-images-idx3-ubyte", kTestImages,
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
      {"t10k-labels-idx1-ubyte", kTestLabels,
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"},
  };
  return files;
}

const std::vector<PinnedFile>& fashion_mnist_files() {
  static const std::vector<PinnedFile> files = {
      {"train-images-idx3-ubyte", kTrainImages,
       "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
      {"train-labels-idx1-ubyte", kTrainLabels,
       "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
      {"t10k-images-idx3-ubyte", kTestImages,
       "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
      {"t10k-labels-idx1-ubyte", kTestLabels,
       "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"},
  };
  return files;
}

Status copy_pinned_files(const std::vector<PinnedFile>& files, const fs::path& source, const fs::path& target,
                         Progress& progress) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.show("checking files", i, files.size());
    TRY(const auto content, read_plain_or_gzip(files[i], source));
    TRY_STATUS(verify_content(files[i], source, content));
    TRY_STATUS(write_file_atomically(target / files[i].name, content));
  }
  return {};
}

}  // namespace aflguard::datasets
