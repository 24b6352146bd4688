#include "edge_client/receiving/verdict_text.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "core/verdict/refusal.h"

namespace aflguard::edge {

std::string reason_name(std::uint8_t reason) {
  static constexpr std::array<std::string_view, 12> kGuard = {
      "accepted",   "buffered",   "too-far", "against-reference", "too-steep", "too-frequent",
      "not-finite", "wrong-size", "too-old", "unknown-version",   "overflow",  "residual-too-long"};
  if (reason < kGuard.size()) return std::string(kGuard[reason]);
  const auto refusal = static_cast<RefusalReason>(reason);
  if (refusal >= RefusalReason::kMalformed && refusal <= RefusalReason::kForeignSender) {
    return std::string(to_string(refusal));
  }
  return "reason-" + std::to_string(reason);
}

std::string verdict_line(const VerdictMessage& verdict) {
  std::string line = "verdict " + std::to_string(verdict.sequence) + ": ";
  line += verdict.accepted ? "accepted" : "rejected (" + reason_name(verdict.reason);
  if (!verdict.accepted && (verdict.distance != 0 || verdict.bound != 0)) {
    std::array<char, 64> numbers{};
    std::snprintf(numbers.data(), numbers.size(), ": %.4g over %.4g", verdict.distance, verdict.bound);
    line += numbers.data();
  }
  if (!verdict.accepted) line += ")";
  return line + ", version " + std::to_string(verdict.version) + ", delay " + std::to_string(verdict.delay);
}

}  // namespace aflguard::edge
