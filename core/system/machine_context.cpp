#include "core/system/machine_context.h"

#include <fstream>
#include <thread>

#include "core/base/version.h"

namespace aflguard {
namespace {

#ifdef NDEBUG
constexpr const char* kBuild = "optimised";
#else
constexpr const char* kBuild = "with assertions";
#endif

std::string processor_name() {
  std::ifstream cpu("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpu, line)) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

MachineContext machine_context() {
  return {kVersion, processor_name(), std::thread::hardware_concurrency(), __VERSION__, kBuild};
}

}  // namespace aflguard
