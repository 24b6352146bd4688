#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace aflguard::edge {

/// What the board tells about itself; what it does not tell is absent.
struct BoardFacts {
  std::optional<double> temperature_c;  ///< of the processor where it is named, else of the first sensor
  std::optional<std::uint64_t> memory_free_mb;  ///< that programs can still have
};

/// From Linux's files; `root` stands in front of /sys and /proc.
[[nodiscard]] BoardFacts read_board_facts(const std::filesystem::path& root = "/");

}  // namespace aflguard::edge
