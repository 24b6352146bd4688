#include "core/system/process_memory.h"

#include <cstdio>
#include <unistd.h>

namespace aflguard {

double resident_megabytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long total = 0;
  long resident = 0;
  const int read = std::fscanf(file, "%ld %ld", &total, &resident);
  std::fclose(file);
  return read == 2 ? static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576
                   : 0;
}

}  // namespace aflguard
