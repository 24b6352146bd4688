#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "firmware_sim/image/board_package.h"
#include "firmware_sim/image/boot_partition.h"
#include "firmware_sim/image/image_plan.h"
#include "firmware_sim/image/image_resources.h"

namespace aflguard::image {

/// What an image for a card is made from.
struct ImageRequest {
  std::filesystem::path output;
  std::uint64_t bytes = kDefaultImageBytes;
  std::string suite = "bookworm";
  std::vector<std::filesystem::path> packages;  ///< .deb files for arm64; aflguard-client is one of them
  std::vector<ImageFile> root_files;            ///< besides the image's own
  std::vector<BootFile> boot_files;             ///< e.g. a board's identity
  bool refresh = false;   ///< make the base again, also when a fresh one is in the cache
  bool compress = false;  ///< write `output` with xz; its name must say so
};

struct BuiltImage {
  PartitionPlan plan;
  std::vector<PackageFile> packages;
  std::size_t debian_packages = 0;
  std::filesystem::path base;
  std::chrono::system_clock::time_point base_made;
  bool base_from_cache = false;
};

/// A base older than this is made again: it lacks a month of Debian's security updates.
inline constexpr std::chrono::days kBaseLifetime{30};

/// Makes the whole image or nothing; no loop devices, no mounts that this machine sees. The base system is
/// kept in `cache`, where one build at a time is at work; others wait. Works as root, and as a user who may
/// map user ids. kNotFound names tools that are missing. `stopped` is asked all the while; then kUnavailable.
[[nodiscard]] Result<BuiltImage> build_image(const ImageRequest& order, const std::filesystem::path& cache,
                                             Progress& progress, const std::function<bool()>& stopped);

}  // namespace aflguard::image
