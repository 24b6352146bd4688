#include <cstring>
#include <png.h>

#include "core/learning/data/cifar10.h"
#include "core/system/atomic_file.h"
#include "datasets/cifar10_sprites.h"
#include "datasets/png_libpng.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t kImages = 2;

/// Pixel p of image i has red p mod 251, green 10 + i and blue 20 + i.
std::vector<std::uint8_t> sprite_pixels() {
  std::vector<std::uint8_t> pixels;
  for (std::size_t i = 0; i < kImages; ++i) {
    for (std::size_t p = 0; p < kCifar10Plane; ++p) {
      pixels.push_back(static_cast<std::uint8_t>(p % 251));
      pixels.push_back(static_cast<std::uint8_t>(10 + i));
      pixels.push_back(static_cast<std::uint8_t>(20 + i));
    }
  }
  return pixels;
}

void write_png(const fs::path& path, std::size_t width, std::size_t height, unsigned format,
               const std::vector<std::uint8_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(width);
  image.height = static_cast<png_uint_32>(height);
  image.format = format;
  TEST_ASSERT_EQUAL_INT(1, png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr));
}

struct Sprites {
  testing::TemporaryFolder folder;
  fs::path source = folder / "source";
  fs::path target = folder / "target";
  SilentProgress progress;
  Sprites() {
    fs::create_directories(source);
    fs::create_directories(target);
    for (const char* name :
         {"data_batch_1", "data_batch_2", "data_batch_3", "data_batch_4", "data_batch_5", "test_batch"}) {
      write_png(source / (std::string(name) + ".png"), kCifar10Plane, kImages, PNG_FORMAT_RGB,
                sprite_pixels());
    }
    ASSERT_OK(write_file_atomically(source / "train_lables.json", "[0,1,2,3,4,5,6,7,8,9]"));
    ASSERT_OK(write_file_atomically(source / "test_lables.json", "[9,0]"));
  }
  Status convert() { return convert_cifar10_sprites(source, target, kImages, progress); }
};

}  // namespace

TEST("Sprites become official batches: labels in order, red, green and blue planes") {
  Sprites sprites;
  ASSERT_OK(sprites.convert());
  const auto data =
      read_cifar10("c", {sprites.target / "data_batch_2.bin", sprites.target / "test_batch.bin"}, kImages);
  ASSERT_OK(data);
  TEST_ASSERT_TRUE((data->labels == std::vector<std::int64_t>{2, 3, 9, 0}));
  const auto& pixels = std::get<std::vector<std::uint8_t>>(data->features);
  const std::size_t second = 3 * kCifar10Plane;
  for (std::size_t p = 0; p < kCifar10Plane; ++p) {
    TEST_ASSERT_EQUAL_UINT8(p % 251, pixels[second + p]);
    TEST_ASSERT_EQUAL_UINT8(11, pixels[second + kCifar10Plane + p]);
    TEST_ASSERT_EQUAL_UINT8(21, pixels[second + 2 * kCifar10Plane + p]);
  }
}

TEST("Labels of another count, above nine or of another type are refused with their file") {
  Sprites sprites;
  const fs::path path = sprites.source / "test_lables.json";
  for (const auto& [text, complaint] :
       std::vector<std::pair<std::string, std::string>>{{"[1]", "1 labels, expected 2"},
                                                        {"[1,2,3]", "3 labels, expected 2"},
                                                        {"[1,10]", "label 1 is 10, expected 0 to 9"},
                                                        {"[1,-1]", "label 1 is -1"},
                                                        {"[1,\"2\"]", "label 1 is \"2\""},
                                                        {"{\"a\":1}", "no JSON list of labels"},
                                                        {"[1,2", "no JSON list of labels"},
                                                        {"", "no JSON list of labels"}}) {
    ASSERT_OK(write_file_atomically(path, text));
    ASSERT_CONTAINS(message_of(sprites.convert()), path.string() + ": " + complaint);
  }
}

TEST("A sprite of another size or kind is refused before its pixels are read") {
  Sprites sprites;
  const fs::path path = sprites.source / "data_batch_1.png";
  write_png(path, kCifar10Plane, kImages - 1, PNG_FORMAT_RGB, sprite_pixels());
  ASSERT_CONTAINS(message_of(sprites.convert()),
                  path.string() + ": the image has 1024 x 1 pixels, expected 1024 x 2");
  std::vector<std::uint8_t> with_alpha(kCifar10Plane * kImages * 4, 7);
  write_png(path, kCifar10Plane, kImages, PNG_FORMAT_RGBA, with_alpha);
  ASSERT_CONTAINS(message_of(sprites.convert()), "not 8-bit RGB");
}

TEST("Every truncation of a sprite and every changed byte of its image data is refused") {
  Sprites sprites;
  const fs::path path = sprites.source / "data_batch_1.png";
  const auto whole = *read_file(path);
  const std::size_t end_chunk = 12;  // the image is complete without the closing chunk
  for (std::size_t length = 0; length + end_chunk < whole.size(); length += 11) {
    ASSERT_OK(write_file_atomically(path, std::span(whole).first(length)));
    TEST_ASSERT_FALSE(read_png_rgb(path, kCifar10Plane, kImages).ok());
  }
  auto changed = whole;
  changed[whole.size() - end_chunk - 5] ^= std::byte{1};
  ASSERT_OK(write_file_atomically(path, changed));
  ASSERT_CONTAINS(message_of(read_png_rgb(path, kCifar10Plane, kImages)), path.string());
}
