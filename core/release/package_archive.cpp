#include "core/release/package_archive.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/cbor/cbor.h"
#include "core/compression/compression.h"
#include "core/learning/data/npy.h"
#include "core/release/release_message.h"
#include "core/system/atomic_file.h"

namespace aflguard {
namespace fs = std::filesystem;
namespace {

constexpr const char* kStart = "start.f32";
constexpr std::array<std::string_view, 8> kFiles = {
    "manifest.json",  "train.onnx",  "train_fused.onnx", "eval.onnx",
    "inference.onnx", "initial.npy", "calibration.npy",  kStart};
/// Unpacked. An archive of less is refused by its packed size first.
constexpr std::size_t kMaxUnpacked = std::size_t{512} << 20;
constexpr int kLevel = 9;

Status check_start(std::span<const float> start, const ModelDescription& model) {
  if (start.size() != model.dimension()) {
    return invalid_input("the parameters to start with are " + std::to_string(start.size()) +
                         " numbers, model '" + model.name + "' has " + std::to_string(model.dimension()));
  }
  if (std::ranges::all_of(start, [](float value) { return std::isfinite(value); })) return {};
  return invalid_input("the parameters to start with are not all finite");
}

Error too_large(std::size_t bytes) {
  return invalid_input("the package has " + std::to_string(bytes) + " bytes, packed; at most " +
                       std::to_string(kMaxPackageBytes) + " can be rolled out");
}

struct ArchivedFile {
  std::string name;
  Bytes content;
};

Result<std::vector<ArchivedFile>> files_of(const fs::path& folder) {
  std::vector<ArchivedFile> files;
  for (const std::string_view name : kFiles) {
    std::error_code error;
    if (name == kStart || !fs::exists(folder / name, error)) continue;
    TRY(Bytes content, read_file(folder / name));
    files.push_back({std::string(name), std::move(content)});
  }
  return files;
}

Result<std::vector<ArchivedFile>> read_archive(std::span<const std::byte> archive) {
  if (archive.size() > kMaxPackageBytes) return too_large(archive.size());
  TRY(const std::size_t size, content_size(archive));
  if (size > kMaxUnpacked) {
    return corrupt("an archive of " + std::to_string(size) + " bytes, unpacked; at most " +
                   std::to_string(kMaxUnpacked) + " are allowed");
  }
  TRY(const Bytes content, decompress(archive, size));
  CborReader reader(content);
  TRY(const std::uint64_t count, reader.take_map());
  if (count > kFiles.size()) return corrupt("an archive of " + std::to_string(count) + " files");
  std::vector<ArchivedFile> files;
  for (std::uint64_t i = 0; i < count; ++i) {
    TRY(const std::string_view name, reader.take_text());
    const bool known = std::ranges::find(kFiles, name) != kFiles.end();
    const bool twice =
        std::ranges::any_of(files, [&](const ArchivedFile& file) { return file.name == name; });
    if (!known || twice) return corrupt("an archive with another file than a package has");
    TRY(const auto bytes, reader.take_bytes());
    files.push_back({std::string(name), Bytes(bytes.begin(), bytes.end())});
  }
  TRY_STATUS(reader.expect_end());
  return files;
}

}  // namespace

Result<Bytes> pack_package(const fs::path& folder, std::span<const float> start) {
  TRY(const ModelPackage package, read_model_package(folder));
  TRY_STATUS(check_start(start, package.description));
  TRY(const auto files, files_of(folder));
  Bytes content;
  CborWriter writer(content);
  writer.put_map(files.size() + 1);
  for (const ArchivedFile& file : files) {
    writer.put_text(file.name);
    writer.put_bytes(file.content);
  }
  writer.put_text(kStart);
  writer.put_bytes(std::as_bytes(start));
  TRY(Bytes archive, compress(content, kLevel));
  if (archive.size() > kMaxPackageBytes) return too_large(archive.size());
  return archive;
}

Result<ModelPackage> unpack_package(std::span<const std::byte> archive, const fs::path& folder) {
  TRY(const auto files, read_archive(archive));
  TRY(auto staged, StagedDirectory::create(folder, /*replace=*/true));
  for (const ArchivedFile& file : files) {
    TRY_STATUS(write_file_atomically(staged.path() / file.name, file.content));
  }
  TRY(ModelPackage package, read_model_package(staged.path()));
  TRY(const auto start, read_start(staged.path(), package.description));
  (void)start;
  TRY_STATUS(staged.commit());
  return package;
}

Result<std::vector<float>> read_start(const fs::path& folder, const ModelDescription& model) {
  TRY(const Bytes bytes, read_file(folder / kStart));
  std::vector<float> start(bytes.size() / sizeof(float));
  std::ranges::copy(std::span(bytes).first(start.size() * sizeof(float)),
                    std::as_writable_bytes(std::span(start)).begin());
  TRY_STATUS(check_start(start, model));
  return start;
}

}  // namespace aflguard
