#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace aflguard::lab {

/// Writes the backdoor's trigger into one sample of `shape`, as the model sees it:
/// images of one channel: four pixels near the lower right corner become 1, at (h-2, w-2), (h-4, w-2),
/// (h-2, w-4), (h-3, w-3); images of several channels: four bars in rows 0 and 4 become 1; feature vectors:
/// every 20th feature becomes 0.
void put_trigger(const std::vector<std::size_t>& shape, std::span<float> sample);

}  // namespace aflguard::lab
