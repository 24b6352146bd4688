#include "core/system/machine/machine_context.h"

#include <fstream>
#include <thread>

#include "core/base/version.h"

namespace aflguard {
namespace {

std::string processor_name() {
  std::ifstream cpu("/proc/cpuinfo");
  std::string line;
  while (std::getline(cpu, line)) {
    if (line.rfind("model name", 0) != 0) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace

MachineContext machine_context() {
#ifdef NDEBUG
  const char* const build = "optimised";
#else
  const char* const build = "with assertions";
#endif
  return {std::string(kVersion), processor_name(), std::thread::hardware_concurrency(), __VERSION__, build};
}

}  // namespace aflguard
