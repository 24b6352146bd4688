#include "bench/offline/cpu_time.h"

#include <ctime>
#include <fstream>
#include <unistd.h>

namespace aflguard::bench {
namespace {

double clock_seconds(clockid_t clock) {
  timespec used{};
  if (::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

}  // namespace

double process_cpu_seconds() {
  return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

double others_cpu_seconds() {
  return process_cpu_seconds() - clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

double resident_mb() {
  std::ifstream file("/proc/self/statm");
  double pages = 0;
  file >> pages >> pages;
  return pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace aflguard::bench
