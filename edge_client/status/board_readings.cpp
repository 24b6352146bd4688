#include "edge_client/status/board_readings.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace aflguard::edge {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxZones = 32;
/// Sensors that are not connected report temperatures that no board survives.
constexpr double kColdest = -60;
constexpr double kHottest = 200;

bool names_processor(const std::string& type) {
  return type.find("cpu") != std::string::npos || type.find("soc") != std::string::npos ||
         type.find("pkg") != std::string::npos;
}

std::optional<double> temperature(const fs::path& root) {
  std::optional<double> found;
  for (int zone = 0; zone < kMaxZones; ++zone) {
    const fs::path folder = root / "sys/class/thermal" / ("thermal_zone" + std::to_string(zone));
    double thousandths = 0;
    if (!(std::ifstream(folder / "temp") >> thousandths)) continue;
    const double degrees = thousandths / 1000;
    if (!(degrees >= kColdest && degrees <= kHottest)) continue;
    std::string type;
    std::ifstream(folder / "type") >> type;
    if (names_processor(type)) return degrees;
    if (!found) found = degrees;
  }
  return found;
}

/// A line of /proc/meminfo, in megabytes.
std::optional<std::uint64_t> memory(const fs::path& root, std::string_view key) {
  std::ifstream file(root / "proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    try {
      return std::stoull(line.substr(key.size())) / 1024;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

/// The smallest memory.max on the way from this process's control group to the root of all.
std::optional<std::uint64_t> group_limit(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("0::/")) line.clear();
  if (line.empty()) return std::nullopt;
  std::optional<std::uint64_t> least;
  for (fs::path group = fs::path(line.substr(4)); !group.empty(); group = group.parent_path()) {
    std::uint64_t bytes = 0;  // "max" is not a number
    if (!(std::ifstream(root / "sys/fs/cgroup" / group / "memory.max") >> bytes)) continue;
    least = std::min(least.value_or(UINT64_MAX), bytes >> 20);
  }
  return least;
}

}  // namespace

BoardReadings read_board(const fs::path& root) {
  return {temperature(root), memory(root, "MemAvailable:")};
}

std::optional<std::uint64_t> memory_limit_mb(const fs::path& root) {
  const auto all = memory(root, "MemTotal:");
  const auto group = group_limit(root);
  return all && group ? std::min(*all, *group) : all ? all : group;
}

}  // namespace aflguard::edge
