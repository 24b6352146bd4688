#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aflguard::sim {

enum class FaultKind : std::uint8_t {
  kUnplug,       ///< a board is killed, and started again when the fault is over
  kCut,          ///< its link passes nothing
  kSlow,         ///< its link passes little
  kKillGateway,  ///< the gateway is killed and started again
  kKillBroker,   ///< the broker is
};

[[nodiscard]] std::string_view to_string(FaultKind kind);

struct Fault {
  std::chrono::milliseconds at{};  ///< since the script's beginning
  std::chrono::milliseconds duration{};
  FaultKind kind = FaultKind::kUnplug;
  std::string target;                  ///< a board, "gateway" or "broker"
  std::uint64_t bytes_per_second = 0;  ///< of kSlow

  friend bool operator==(const Fault&, const Fault&) = default;
};

struct ScriptSettings {
  std::uint64_t seed = 1;
  std::chrono::milliseconds length{};
  std::vector<std::string> boards;
  bool gateway = false;  ///< the script may kill gateway and broker
};

/// Faults in the order of their beginning, the same for the same settings. Faults of one target never
/// overlap; those of several do. All are over by the end of `length`, and there is at least one.
[[nodiscard]] std::vector<Fault> make_fault_script(const ScriptSettings& settings);

}  // namespace aflguard::sim
