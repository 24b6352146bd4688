#include "core/system/machine/descriptor_limit.h"

#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <sys/resource.h>

namespace aflguard {

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

std::optional<std::uint64_t> descriptor_limit_of(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/limits");
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kName = "Max open files";
    if (!line.starts_with(kName)) continue;
    std::istringstream rest(line.substr(kName.size()));
    std::string soft;
    if (!(rest >> soft)) return std::nullopt;
    if (soft == "unlimited") return std::numeric_limits<std::uint64_t>::max();
    return std::stoull(soft);
  }
  return std::nullopt;
}

}  // namespace aflguard
