#include "edge_client/receiving/verdict_text.h"

#include <array>
#include <cstdio>

#include "core/verdict/reason.h"

namespace aflguard::edge {

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
