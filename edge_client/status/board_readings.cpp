#include "edge_client/status/board_readings.h"

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

std::optional<std::uint64_t> free_memory(const fs::path& root) {
  std::ifstream file(root / "proc/meminfo");
  std::string line;
  while (std::getline(file, line)) {
    constexpr std::string_view kKey = "MemAvailable:";
    if (!line.starts_with(kKey)) continue;
    try {
      return std::stoull(line.substr(kKey.size())) / 1024;
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

BoardReadings read_board(const fs::path& root) {
  return {temperature(root), free_memory(root)};
}

}  // namespace aflguard::edge
