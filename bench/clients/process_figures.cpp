#include "bench/clients/process_figures.h"

#include <ctime>
#include <fstream>
#include <string>

namespace aflguard::bench {
namespace {

/// A line "NAME: KIB kB" of one of a process's files.
Result<double> read_mb(int process, const std::string& file, const std::string& name) {
  std::ifstream lines("/proc/" + std::to_string(process) + "/" + file);
  for (std::string word; lines >> word;) {
    double kib = 0;
    if (word == name && lines >> kib) return kib * 1024 / 1e6;
  }
  return unavailable("process " + std::to_string(process) + " has ended, so its memory is unknown");
}

}  // namespace

double cpu_seconds(int process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

Result<double> peak_mb(int process) {
  return read_mb(process, "status", "VmHWM:");
}

Result<double> own_mb(int process) {
  return read_mb(process, "smaps_rollup", "Pss:");
}

IdleShare::Ticks IdleShare::read() {
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  Ticks ticks;
  double value = 0;
  for (int i = 0; i < 8 && file >> value; ++i) {
    ticks.all += value;
    if (i == 3 || i == 4) ticks.idle += value;  // idle, and idle while a disk is waited for
  }
  return ticks;
}

double IdleShare::value() const {
  const Ticks now = read();
  return now.all > begin_.all ? (now.idle - begin_.idle) / (now.all - begin_.all) : 0;
}

}  // namespace aflguard::bench
