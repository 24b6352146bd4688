#include "core/system/machine/process_memory.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace aflguard {
namespace {

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  bool from_file = false;  ///< read only, private, with a file behind it
  unsigned long resident_kb = 0;
  unsigned long changed_kb = 0;  ///< that the file cannot give back, or that are locked
};

/// A mapping's first line in smaps: "begin-end rwxp offset device inode path".
bool read_head(const char* line, Mapping& mapping) {
  unsigned long begin = 0;
  unsigned long end = 0;
  char access[5] = {};
  int path = 0;
  if (std::sscanf(line, "%lx-%lx %4s %*s %*s %*s %n", &begin, &end, access, &path) < 3) return false;
  mapping = {begin, end, path > 0 && line[path] == '/' && access[1] == '-' && access[3] == 'p', 0, 0};
  return true;
}

void read_figure(const char* line, Mapping& mapping) {
  char name[32] = {};
  unsigned long kb = 0;
  if (std::sscanf(line, "%31[A-Za-z_]: %lu kB", name, &kb) != 2) return;
  if (std::strcmp(name, "Rss") == 0) mapping.resident_kb = kb;
  for (const char* changed : {"Anonymous", "Swap", "Locked"}) {
    if (std::strcmp(name, changed) == 0) mapping.changed_kb += kb;
  }
}

/// Of this process; none where the kernel does not tell.
std::vector<Mapping> read_mappings() {
  std::vector<Mapping> mappings;
  std::FILE* file = std::fopen("/proc/self/smaps", "re");
  if (file == nullptr) return mappings;
  char line[512];
  bool begins = true;  // a path may be longer than the buffer
  while (std::fgets(line, sizeof line, file) != nullptr) {
    Mapping mapping;
    if (begins && read_head(line, mapping)) {
      mappings.push_back(mapping);
    } else if (begins && !mappings.empty()) {
      read_figure(line, mappings.back());
    }
    begins = std::strchr(line, '\n') != nullptr;
  }
  std::fclose(file);
  return mappings;
}

}  // namespace

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

std::size_t machine_memory_bytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) : 0;
}

std::size_t release_file_pages() {
  std::size_t released = 0;
  for (const Mapping& mapping : read_mappings()) {
    if (!mapping.from_file || mapping.resident_kb == 0 || mapping.changed_kb > 0) continue;
    // The kernel's own numbers: they name pages of this process.
    auto* const begin = reinterpret_cast<void*>(mapping.begin);  // NOLINT(performance-no-int-to-ptr)
    if (::madvise(begin, mapping.end - mapping.begin, MADV_DONTNEED) == 0)
      released += mapping.resident_kb * 1024;
  }
  return released;
}

}  // namespace aflguard
