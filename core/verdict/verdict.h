#pragma once

#include <cstdint>
#include <string>

#include "core/verdict/reason.h"

namespace aflguard {

/// How an accepted update was changed before it was applied. Bits of Verdict::alterations; they are stored,
/// so they never change meaning.
enum Alteration : std::uint32_t {
  kMixtureClipped = 1U << 0,     ///< claimed more (or less) of a class than a batch can hold
  kMixtureScaled = 1U << 1,      ///< claimed more than a whole batch
  kResidualShortened = 1U << 2,  ///< the unexplained part was longer than the radius
  kTooAlike = 1U << 3,           ///< the client is more like others, in the long run, than most are
  kAtOdds = 1U << 4,             ///< the client is at odds with most others in the long run
  kWeightBounded = 1U << 5,      ///< claimed more of the trusted gradient than the other clients do
  kDirectionBent = 1U << 8,      ///< bit 8 + k: along watched direction k it went beyond the other clients
};

/// What the aggregator says about one update. A rejection is a verdict, not an error.
struct Verdict {
  bool accepted = false;
  Reason reason = Reason::kTooFar;
  /// What the guard measured and the limit it compared with. AFLGuard: ||g - g_s|| and lambda ||g_s||;
  /// Kardam: Lipschitz coefficient and median; Zeno++: cosine and 0; SpanGuard: length of the residual and 3
  /// times the clients' median. Both 0 where nothing was compared.
  double distance = 0;
  double bound = 0;
  std::uint64_t delay = 0;  ///< model versions between the update's base and its arrival
  /// Guards that change what they accept: ||update - applied|| / ||update||; 0: applied as it was sent.
  double altered = 0;
  std::uint32_t alterations = 0;  ///< which changes: Alteration bits

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// For people, in one line: "accepted, changed by 31 %: residual shortened, 2 directions bent";
/// "residual-too-long: 8.1, bound 5.4".
[[nodiscard]] std::string describe(const Verdict& verdict);

}  // namespace aflguard
