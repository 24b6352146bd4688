#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace aflguard::sim {

inline constexpr const char* kMachineProgram = "qemu-system-aarch64";
inline constexpr const char* kMachinePackage = "qemu-system-arm";
/// What QEMU's user-mode network calls the machine that it runs on.
inline constexpr const char* kHostInMachine = "10.0.2.2";

struct MachineDisk {
  std::string name;  ///< its serial number
  std::filesystem::path file;
  bool read_only = false;
};

/// How a machine's disks and network are plugged in. Small kernels know only the first.
enum class MachineBus { kMemoryMapped, kPci };

/// QEMU's machine `virt` with a Cortex-A72, as a value. Its console is the standard output of the process
/// that runs it; its network is QEMU's user-mode network: it reaches this machine's loopback as
/// kHostInMachine, and cannot be reached. It ends when it wants to start again.
struct VirtualMachine {
  std::filesystem::path kernel;
  std::filesystem::path initial_disk;
  std::string kernel_line;
  int processors = 1;
  int megabytes = 0;
  MachineBus bus = MachineBus::kMemoryMapped;
  std::vector<MachineDisk> disks{};

  /// What runs it, the program first.
  [[nodiscard]] std::vector<std::string> command() const;
};

}  // namespace aflguard::sim
