#include <zstd.h>

#include "core/compression/compression.h"

namespace aflguard {

Result<Bytes> compress(std::span<const std::byte> content, int level) {
  Bytes frame(::ZSTD_compressBound(content.size()));
  const std::size_t size = ::ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), level);
  if (::ZSTD_isError(size) != 0) {
    return internal_error(std::string("zstd cannot compress: ") + ::ZSTD_getErrorName(size));
  }
  frame.resize(size);
  return frame;
}

Result<std::size_t> content_size(std::span<const std::byte> frame) {
  const unsigned long long says = ::ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (says == ZSTD_CONTENTSIZE_ERROR || says == ZSTD_CONTENTSIZE_UNKNOWN) {
    return corrupt("compressed bytes are no zstd frame that names its size");
  }
  return static_cast<std::size_t>(says);
}

Result<Bytes> decompress(std::span<const std::byte> frame, std::size_t size) {
  TRY(const std::size_t says, content_size(frame));
  if (says != size) {
    return corrupt("compressed bytes would become " + std::to_string(says) + " bytes, " +
                   std::to_string(size) + " are expected");
  }
  if (::ZSTD_findFrameCompressedSize(frame.data(), frame.size()) != frame.size()) {
    return corrupt("compressed bytes are damaged, or more than one zstd frame");
  }
  Bytes content(size);
  const std::size_t got = ::ZSTD_decompress(content.data(), content.size(), frame.data(), frame.size());
  if (::ZSTD_isError(got) != 0 || got != size) return corrupt("compressed bytes are damaged");
  return content;
}

}  // namespace aflguard
