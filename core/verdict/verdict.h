#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aflguard {

/// Why an update was taken or not. Numbers are stored and sent: they never change meaning.
enum class Reason : std::uint8_t {
  kAccepted = 0,
  kBuffered = 1,          ///< taken, and kept until the filter has enough updates to move the model
  kTooFar = 2,            ///< further from the reference update than the bound (AFLGuard)
  kAgainstReference = 3,  ///< no positive inner product with the reference update (Zeno++)
  kTooSteep = 4,          ///< empirical Lipschitz coefficient above the median (Kardam)
  kTooFrequent = 5,       ///< this client sent too many of the latest accepted updates (Kardam)
  kNotFinite = 6,         ///< the vector holds a NaN or an infinity
  kWrongSize = 7,         ///< the vector's length is not the model's dimension
  kTooOld = 8,            ///< computed on a version that is no longer admitted
  kUnknownVersion = 9,    ///< computed on a version that does not exist yet
  kOverflow = 10,         ///< applying it would take a parameter out of float's range
  kResidualTooLong = 11,  ///< what the trusted classes do not explain is longer than the bound (SpanGuard)
};

/// How an accepted update was changed before it was applied. Bits of Verdict::alterations; they are stored,
/// so they never change meaning.
enum Alteration : std::uint32_t {
  kMixtureClipped = 1U << 0,     ///< claimed more (or less) of a class than a batch can hold
  kMixtureScaled = 1U << 1,      ///< claimed more than a whole batch
  kResidualShortened = 1U << 2,  ///< the unexplained part was longer than the radius
  kDirectionBent = 1U << 8,      ///< bit 8 + k: along watched direction k it went beyond the other clients
};

[[nodiscard]] std::string_view to_string(Reason reason);  // "accepted", "too-far", ...

/// What the aggregator says about one update. A rejection is a verdict, not an error.
struct Verdict {
  bool accepted = false;
  Reason reason = Reason::kTooFar;
  /// What the filter measured and the limit it compared with. AFLGuard: ||g - g_s|| and lambda ||g_s||;
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
