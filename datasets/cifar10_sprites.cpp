#include "datasets/cifar10_sprites.h"

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/learning/data/cifar10.h"
#include "core/system/atomic_file.h"
#include "datasets/png_libpng.h"

namespace aflguard::datasets {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kTrainBatches = 5;
constexpr std::uint64_t kMaxLabelFile = 16 << 20;

Result<std::vector<std::uint8_t>> parse_labels(const std::string& text, std::size_t count) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array() || json.size() != count) {
    return corrupt((json.is_array() ? std::to_string(json.size()) + " labels" : "no JSON list of labels") +
                   ", expected " + std::to_string(count));
  }
  std::vector<std::uint8_t> labels;
  for (const auto& item : json) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() >= kCifar10Classes) {
      return corrupt("label " + std::to_string(labels.size()) + " is " + item.dump() + ", expected 0 to 9");
    }
    labels.push_back(item.get<std::uint8_t>());
  }
  return labels;
}

Result<std::vector<std::uint8_t>> read_labels(const fs::path& path, std::size_t count) {
  TRY(const std::string text, read_text_file(path, kMaxLabelFile));
  auto labels = parse_labels(text, count);
  if (!labels.ok()) return at(path.string(), labels.error());
  return labels;
}

/// Interleaved RGB rows become planar records.
std::vector<std::byte> to_records(std::span<const std::uint8_t> pixels,
                                  std::span<const std::uint8_t> labels) {
  std::vector<std::byte> records(labels.size() * kCifar10Record);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const std::uint8_t* from = pixels.data() + i * 3 * kCifar10Plane;
    std::byte* to = records.data() + i * kCifar10Record;
    *to++ = std::byte{labels[i]};
    for (std::size_t channel = 0; channel < 3; ++channel) {
      for (std::size_t p = 0; p < kCifar10Plane; ++p) *to++ = std::byte{from[3 * p + channel]};
    }
  }
  return records;
}

Status convert_batch(const fs::path& source, const fs::path& target, const std::string& name,
                     std::span<const std::uint8_t> labels) {
  TRY(const auto pixels, read_png_rgb(source / (name + ".png"), kCifar10Plane, labels.size()));
  return write_file_atomically(target / (name + ".bin"), to_records(pixels, labels));
}

}  // namespace

Status convert_cifar10_sprites(const fs::path& source, const fs::path& target, std::size_t images,
                               Progress& progress) {
  TRY(const auto train_labels, read_labels(source / "train_lables.json", kTrainBatches * images));
  TRY(const auto test_labels, read_labels(source / "test_lables.json", images));
  for (std::size_t i = 0; i < kTrainBatches; ++i) {
    progress.show("converting images", i, kTrainBatches + 1);
    TRY_STATUS(convert_batch(source, target, "data_batch_" + std::to_string(i + 1),
                             std::span(train_labels).subspan(i * images, images)));
  }
  progress.show("converting images", kTrainBatches, kTrainBatches + 1);
  return convert_batch(source, target, "test_batch", test_labels);
}

}  // namespace aflguard::datasets
