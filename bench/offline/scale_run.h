#pragma once

#include <filesystem>

#include "bench/offline/offline_gateway.h"
#include "core/base/progress.h"

namespace aflguard::bench {

/// What a gateway costs with so many devices in its book and its store.
struct ScaleFigures {
  std::size_t devices = 0;
  double start_ms = 0;        ///< from opening the book until it serves; every device has sent before
  double start_cpu_ms = 0;    ///< CPU time of the same
  double empty_start_ms = 0;  ///< the same with a new store: no device has sent yet
  double silence_share = 0;   ///< of one core, while nothing comes
  double update_cpu_us = 0;   ///< per update, each from another device; without the broker's connection
  double memory_mb = 0;       ///< that the process grew by until it served
  double book_mb = 0;         ///< on the disk
  double store_mb = 0;
};

struct ScaleOptions {
  std::size_t updates = 4000;  ///< each of another device
  double silence_seconds = 5;
};

/// In `folder`, which is empty. Runs the real gateway on a bus without a network.
[[nodiscard]] Result<ScaleFigures> run_scale(std::size_t devices, const ScaleOptions& options,
                                             const std::filesystem::path& folder, Progress& progress);

}  // namespace aflguard::bench
