#include "core/learning/data/cifar10.h"

#include <span>

#include "core/system/atomic_file.h"

namespace aflguard {
namespace {

constexpr std::uint64_t kMaxFile = std::uint64_t{1} << 31;

Status check_size(std::size_t found, std::size_t records) {
  if (records != 0 && found != records * kCifar10Record) {
    return corrupt("the file has " + std::to_string(found) + " bytes, " + std::to_string(records) +
                   " records of " + std::to_string(kCifar10Record) + " bytes need " +
                   std::to_string(records * kCifar10Record));
  }
  if (found == 0 || found % kCifar10Record != 0) {
    return corrupt("the file has " + std::to_string(found) + " bytes, expected a multiple of " +
                   std::to_string(kCifar10Record) + " (one CIFAR-10 record)");
  }
  return {};
}

Status append(Dataset& data, std::vector<std::uint8_t>& pixels, std::span<const std::byte> records) {
  for (std::size_t i = 0; !records.empty(); ++i, records = records.subspan(kCifar10Record)) {
    const auto label = std::to_integer<std::int64_t>(records[0]);
    if (label >= static_cast<std::int64_t>(kCifar10Classes)) {
      return corrupt("record " + std::to_string(i) + " has label " + std::to_string(label) +
                     ", expected 0 to 9");
    }
    data.labels.push_back(label);
    const auto* first = reinterpret_cast<const std::uint8_t*>(records.data());
    pixels.insert(pixels.end(), first + 1, first + kCifar10Record);
  }
  return {};
}

}  // namespace

Result<Dataset> read_cifar10(const std::string& name, const std::vector<std::filesystem::path>& files,
                             std::size_t records_per_file) {
  Dataset data;
  data.name = name;
  data.classes = kCifar10Classes;
  data.sample_shape = {3, kCifar10Side, kCifar10Side};
  std::vector<std::uint8_t> pixels;
  pixels.reserve(files.size() * records_per_file * 3 * kCifar10Plane);
  for (const auto& path : files) {
    TRY(const auto bytes, read_file(path, kMaxFile));
    Status status = check_size(bytes.size(), records_per_file);
    if (status.ok()) status = append(data, pixels, bytes);
    if (!status.ok()) return at(path.string(), status.error());
  }
  data.features = std::move(pixels);
  TRY_STATUS(data.validate());
  return data;
}

}  // namespace aflguard
