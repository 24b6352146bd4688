#include "datasets/manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/sha256.h"
#include "core/system/atomic_file.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kManifestName = "dataset.json";
constexpr const char* kFormat = "aflguard-dataset";
constexpr int kVersion = 1;
constexpr std::uint64_t kMaxManifest = 1 << 20;

Result<PinnedFile> describe(const fs::path& path) {
  TRY(const auto bytes, read_file(path));
  return PinnedFile{path.filename().string(), bytes.size(), sha256_hex(bytes)};
}

Manifest parse_fields(const Json& json) {
  Manifest manifest;
  manifest.name = json.at("name").get<std::string>();
  manifest.origin.source = json.at("source").get<std::string>();
  manifest.origin.seed = json.value("seed", std::uint64_t{0});
  for (const Json& file : json.at("files")) {
    manifest.files.push_back({file.at("name").get<std::string>(), file.at("bytes").get<std::uint64_t>(),
                              file.at("sha256").get<std::string>()});
  }
  return manifest;
}

Result<Manifest> parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return corrupt("not a JSON object");
  try {
    if (json.at("format") != kFormat || json.at("version") != kVersion) {
      return unsupported("not an " + std::string(kFormat) + " file of version " + std::to_string(kVersion));
    }
    return parse_fields(json);
  } catch (const Json::exception& problem) {
    return corrupt(problem.what());
  }
}

Status check_size(const fs::path& path, std::uint64_t expected, const std::string& what_to_do) {
  std::error_code error;
  const std::uint64_t found = fs::file_size(path, error);
  if (error) return not_found(path.string() + ": " + error.message() + "; " + what_to_do);
  if (found == expected) return {};
  return corrupt(path.string() + " has " + std::to_string(found) + " bytes, expected " +
                 std::to_string(expected) + "; " + what_to_do);
}

std::string remedy(const DatasetInfo& info) {
  return "run `" + info.command + "` to install it again";
}

}  // namespace

Status write_manifest(const fs::path& folder, const std::string& name, const Origin& origin) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    paths.push_back(it->path());
  }
  if (error) return io_error("cannot list " + folder.string() + ": " + error.message());
  std::sort(paths.begin(), paths.end());
  Json json = {{"format", kFormat}, {"version", kVersion}, {"name", name}, {"source", origin.source}};
  if (origin.seed != 0) json["seed"] = origin.seed;
  json["files"] = Json::array();
  for (const fs::path& path : paths) {
    TRY(const PinnedFile file, describe(path));
    json["files"].push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  }
  return write_file_atomically(folder / kManifestName, json.dump(2) + "\n");
}

Result<Manifest> read_manifest(const fs::path& folder) {
  const fs::path path = folder / kManifestName;
  TRY(const std::string text, read_text_file(path, kMaxManifest));
  auto manifest = parse(text);
  if (!manifest.ok()) return at(path.string(), manifest.error());
  return manifest;
}

Status verify_file(const fs::path& path, const PinnedFile& expected, const std::string& what_to_do) {
  TRY_STATUS(check_size(path, expected.bytes, what_to_do));
  TRY(const auto bytes, read_file(path));
  const std::string found = sha256_hex(bytes);
  if (found == expected.sha256) return {};
  return corrupt(path.string() + " has SHA-256 " + found + ", expected " + expected.sha256 + "; " +
                 what_to_do);
}

Status check_installed(const DatasetInfo& info, const fs::path& data_dir) {
  const fs::path folder = data_dir / info.name;
  std::error_code error;
  if (!fs::exists(folder / kManifestName, error)) {
    return not_found("data set '" + info.name + "' is not installed in " + data_dir.string() + ": run `" +
                     info.command + "`");
  }
  TRY(const Manifest manifest, read_manifest(folder));
  for (const PinnedFile& file : manifest.files) {
    TRY_STATUS(check_size(folder / file.name, file.bytes, remedy(info)));
  }
  return {};
}

Status verify_installed(const DatasetInfo& info, const fs::path& data_dir) {
  TRY_STATUS(check_installed(info, data_dir));
  const fs::path folder = data_dir / info.name;
  TRY(const Manifest manifest, read_manifest(folder));
  for (const PinnedFile& file : manifest.files) {
    TRY_STATUS(verify_file(folder / file.name, file, remedy(info)));
  }
  return {};
}

}  // namespace aflguard::datasets
