#include "datasets/png_libpng.h"

#include <png.h>
#include <string>

#include "core/system/atomic_file.h"

namespace aflguard::datasets {
namespace {

/// libpng's simplified interface: it reports errors as values and never jumps out of our frames.
class PngImage final {
 public:
  PngImage() { image.version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(&image); }
  png_image image{};
};

Result<std::vector<std::uint8_t>> decode(std::span<const std::byte> bytes, std::size_t width,
                                         std::size_t height) {
  PngImage holder;
  png_image& image = holder.image;
  if (png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()) == 0) {
    return corrupt("not a readable .png: " + std::string(image.message));
  }
  if (image.width != width || image.height != height) {
    return corrupt("the image has " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                   " pixels, expected " + std::to_string(width) + " x " + std::to_string(height));
  }
  if (image.format != PNG_FORMAT_RGB) return unsupported("the image is not 8-bit RGB without transparency");
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) {
    return corrupt("damaged .png: " + std::string(image.message));
  }
  return pixels;
}

}  // namespace

Result<std::vector<std::uint8_t>> read_png_rgb(const std::filesystem::path& path, std::size_t width,
                                               std::size_t height) {
  TRY(const auto bytes, read_file(path));
  auto pixels = decode(bytes, width, height);
  if (!pixels.ok()) return at(path.string(), pixels.error());
  return pixels;
}

}  // namespace aflguard::datasets
