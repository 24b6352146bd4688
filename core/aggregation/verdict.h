#pragma once

#include <cstdint>
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
};

[[nodiscard]] std::string_view to_string(Reason reason);  // "accepted", "too-far", ...

/// What the aggregator says about one update. A rejection is a verdict, not an error.
struct Verdict {
  bool accepted = false;
  Reason reason = Reason::kTooFar;
  /// What the filter measured and the limit it compared with. AFLGuard: ||g - g_s|| and lambda ||g_s||;
  /// Kardam: Lipschitz coefficient and median; Zeno++: cosine and 0. Both 0 where nothing was compared.
  double distance = 0;
  double bound = 0;
  std::uint64_t delay = 0;  ///< model versions between the update's base and its arrival

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

}  // namespace aflguard
