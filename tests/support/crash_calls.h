#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

namespace aflguard::testing {

/// What happens at the chosen call that changes files.
enum class CallFault : std::uint8_t {
  kKill,       ///< the program ends before it
  kTear,       ///< the program ends in the middle of it: half of the bytes are written
  kFail,       ///< it fails (EIO); later ones work
  kDropBytes,  ///< the power goes: files that were not synced are empty
  kDropNames,  ///< the power goes: renames and removals in folders that were not synced are undone
};

/// Runs `steps` in its own process, whose calls that change files below `folder` (open for writing,
/// write, sync, truncate, rename, remove) are counted; call number `point`, from 1, goes wrong; 0: none.
/// `steps` gets a function that notes one more step as done, which outlives every fault.
struct CrashOutcome {
  std::uint64_t calls = 0;       ///< that were made
  int steps = 0;                 ///< that were noted as done
  bool ended = false;            ///< `steps` came to its end
  bool unsynced_rename = false;  ///< a file got its name before its bytes were synced
};
[[nodiscard]] CrashOutcome run_with_fault(
    const std::filesystem::path& folder, CallFault fault, std::uint64_t point,
    const std::function<void(const std::function<void()>& done)>& steps);

}  // namespace aflguard::testing
