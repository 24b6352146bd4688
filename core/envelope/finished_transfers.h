#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

namespace aflguard {

/// The last transfer that each of many senders finished, so that a piece of it that comes late opens nothing.
/// A sender costs 24 bytes, and there is a fixed number of places: one that is needed again goes from one
/// sender to another, and none is refused. A sender that was forgotten loses nothing but this comfort.
class FinishedTransfers final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  FinishedTransfers(std::size_t places, std::chrono::steady_clock::duration remembered)
      : places_(places), remembered_(remembered) {}

  void note(std::string_view source, std::uint64_t transfer, std::uint16_t round, Time now);
  /// Of the transfer that this sender finished last, in the same or an earlier round, not too long ago.
  [[nodiscard]] bool is_repeat(std::string_view source, std::uint64_t transfer, std::uint16_t round,
                               Time now) const;

 private:
  struct Finished {
    std::uint64_t transfer = 0;
    Time when{};
    std::uint32_t source = 0;  ///< a part of its name's hash that the place does not tell; 0: none
    std::uint16_t round = 0;
  };
  struct Place {
    std::size_t index = 0;
    std::uint32_t source = 0;
  };
  [[nodiscard]] Place place_of(std::string_view source) const;

  std::size_t places_;
  std::chrono::steady_clock::duration remembered_;
  std::vector<Finished> finished_;  ///< made with the first one
};

}  // namespace aflguard
