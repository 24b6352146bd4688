#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/learning/data/dataset.h"

namespace aflguard {

/// CIFAR-10's official binary format: records of one label byte (0-9) and 3072 pixel bytes, the red plane
/// first, then green, then blue, each 32 rows of 32.
inline constexpr std::size_t kCifar10Classes = 10;
inline constexpr std::size_t kCifar10Side = 32;
inline constexpr std::size_t kCifar10Plane = kCifar10Side * kCifar10Side;
inline constexpr std::size_t kCifar10Record = 1 + 3 * kCifar10Plane;

/// All records of the files, in order. kCorrupt, naming file and sizes, when one of them does not hold
/// exactly `records_per_file` (0: any whole number of records).
[[nodiscard]] Result<Dataset> read_cifar10(const std::string& name,
                                           const std::vector<std::filesystem::path>& files,
                                           std::size_t records_per_file = 10000);

}  // namespace aflguard
