#pragma once

#include <cstddef>
#include <span>

#include "core/base/bytes.h"
#include "core/base/result.h"

namespace aflguard {

/// One Zstandard frame (RFC 8878) that names its content's size. Level 1 is the quickest. Fails only where
/// there is no memory.
[[nodiscard]] Result<Bytes> compress(std::span<const std::byte> content, int level = 1);

/// What one frame says that it will become. kCorrupt when it says nothing.
[[nodiscard]] Result<std::size_t> content_size(std::span<const std::byte> frame);

/// The content of exactly one frame that says it has exactly `size` bytes, and has. Hostile input: nothing is
/// allocated before the frame's own size has been compared, and no more than `size` bytes are for the
/// content. kCorrupt otherwise.
[[nodiscard]] Result<Bytes> decompress(std::span<const std::byte> frame, std::size_t size);

}  // namespace aflguard
