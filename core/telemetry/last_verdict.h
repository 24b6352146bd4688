#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace aflguard {

/// The verdict on a device's latest update, as its status and its summary show it.
struct LastVerdict {
  bool accepted = false;
  std::string reason{};
  std::optional<std::uint64_t> delay{};  ///< versions between the update's base and its arrival
  /// Only the gateway knows these; in a summary.
  std::optional<double> distance{};
  std::optional<double> bound{};
  std::optional<std::uint64_t> version{};  ///< of the model after it
  std::optional<double> altered{};         ///< how much of it was changed before it was applied
};

}  // namespace aflguard
