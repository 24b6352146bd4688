#include "core/encoding/encoding.h"

#include <algorithm>
#include <array>

namespace aflguard {
namespace {

constexpr std::array<std::string_view, kEncodings> kNames = {"float32", "fp16", "int8", "int4"};

}  // namespace

std::string_view to_string(Encoding encoding) {
  return kNames[static_cast<std::size_t>(encoding)];
}

std::optional<Encoding> parse_encoding(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<Encoding>(found - kNames.begin());
}

std::size_t encoded_size(Encoding encoding, std::size_t count) {
  const std::size_t scales = 2 * ((count + kBlock - 1) / kBlock);
  switch (encoding) {
    case Encoding::kFloat32:
      return 4 * count;
    case Encoding::kFloat16:
      return 2 * count;
    case Encoding::kInt8:
      return scales + count;
    case Encoding::kInt4:
      return scales + (count + 1) / 2;
  }
  return 0;
}

}  // namespace aflguard
