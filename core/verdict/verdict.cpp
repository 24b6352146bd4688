#include "core/verdict/verdict.h"

#include <bit>
#include <cstdio>

namespace aflguard {

std::string describe(const Verdict& verdict) {
  char text[96];
  std::string line(to_string(verdict.reason));
  if (!verdict.accepted) {
    if (verdict.distance == 0 && verdict.bound == 0) return line;
    std::snprintf(text, sizeof(text), ": %.4g, bound %.4g", verdict.distance, verdict.bound);
    return line + text;
  }
  if (verdict.alterations == 0) return line;
  std::snprintf(text, sizeof(text), ", changed by %.3g %%", 100 * verdict.altered);
  line += text;
  const char* separator = ": ";
  const auto add = [&](const std::string& what) {
    line += separator + what;
    separator = ", ";
  };
  if ((verdict.alterations & kMixtureClipped) != 0) add("class mixture clipped");
  if ((verdict.alterations & kMixtureScaled) != 0) add("class mixture scaled down");
  if ((verdict.alterations & kResidualShortened) != 0) add("residual shortened");
  if ((verdict.alterations & kTooAlike) != 0) add("shortened: client too much like others");
  if ((verdict.alterations & kAtOdds) != 0) add("shortened: client at odds with the others");
  if ((verdict.alterations & kWeightBounded) != 0) add("weight bounded by the other clients'");
  const int bent = std::popcount(verdict.alterations / kDirectionBent);
  if (bent > 0) add(std::to_string(bent) + (bent == 1 ? " direction bent" : " directions bent"));
  return line;
}

}  // namespace aflguard
