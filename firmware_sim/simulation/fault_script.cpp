#include "firmware_sim/simulation/fault_script.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/check.h"
#include "core/base/random.h"

namespace aflguard::sim {
namespace {

using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kShortestPause{500};
constexpr Milliseconds kLongestPause{6000};
constexpr Milliseconds kShortestFault{200};
constexpr Milliseconds kLongestFault{12'000};
constexpr Milliseconds kRecovery{3000};  // a target's rest between two faults
constexpr std::uint64_t kSlowestBytes = 2000;
constexpr std::uint64_t kFastestBytes = 60'000;
constexpr const char* kGateway = "gateway";
constexpr const char* kBroker = "broker";

Milliseconds between(Random& random, Milliseconds low, Milliseconds high) {
  return low + Milliseconds(random.below(static_cast<std::uint64_t>((high - low).count()) + 1));
}

/// Boards are what breaks most; one fault in five hits the machine in the middle, where that is allowed.
Fault draw(const ScriptSettings& settings, Random& random) {
  Fault fault;
  constexpr std::uint64_t kInFive = 5;
  if (settings.gateway && random.below(kInFive) == 0) {
    const bool gateway = random.below(2) == 0;
    fault.kind = gateway ? FaultKind::kKillGateway : FaultKind::kKillBroker;
    fault.target = gateway ? kGateway : kBroker;
    return fault;
  }
  fault.target = settings.boards[random.below(settings.boards.size())];
  constexpr std::array kKinds = {FaultKind::kUnplug, FaultKind::kUnplug, FaultKind::kCut, FaultKind::kSlow};
  fault.kind = kKinds[random.below(kKinds.size())];
  if (fault.kind == FaultKind::kSlow)
    fault.bytes_per_second = kSlowestBytes + random.below(kFastestBytes - kSlowestBytes);
  return fault;
}

}  // namespace

std::string_view to_string(FaultKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"unplug", "cut", "slow", "kill-gateway", "kill-broker"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::vector<Fault> make_fault_script(const ScriptSettings& settings) {
  check(!settings.boards.empty(), "a fault script needs boards");
  Random random(settings.seed);
  std::vector<Fault> script;
  std::map<std::string, Milliseconds> free_at;
  Milliseconds now{0};
  while (true) {
    now += between(random, kShortestPause, kLongestPause);
    Fault fault = draw(settings, random);
    fault.at = std::max(now, free_at[fault.target]);
    fault.duration = between(random, kShortestFault, kLongestFault);
    if (script.empty()) {  // however short the script is
      fault.at = std::min(fault.at, settings.length / 2);
      fault.duration = std::min(fault.duration, settings.length - fault.at);
    }
    if (now >= settings.length && !script.empty()) break;
    if (fault.at + fault.duration > settings.length) continue;
    free_at[fault.target] = fault.at + fault.duration + kRecovery;
    script.push_back(std::move(fault));
  }
  std::stable_sort(script.begin(), script.end(), [](const Fault& a, const Fault& b) { return a.at < b.at; });
  return script;
}

}  // namespace aflguard::sim
