#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/envelope/piece.h"

namespace aflguard {

struct PieceAssemblerLimits {
  std::size_t max_envelope_bytes = 16u << 20;
  std::size_t max_bytes_per_source = 32u << 20;
  std::size_t max_bytes = 256u << 20;
  std::size_t max_transfers_per_source = 4;  ///< bounds what many tiny transfers cost
  std::size_t max_sources = 10'000;          ///< senders with something unfinished or just finished
  std::chrono::steady_clock::duration silence = std::chrono::seconds(120);
};

/// Puts envelopes together from pieces of many senders. A state machine: no I/O, no thread, no clock. Memory
/// is bounded by the limits whatever arrives, and one sender never pushes out another's pieces.
class PieceAssembler final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit PieceAssembler(const PieceAssemblerLimits& limits = {}) : limits_(limits) {}

  /// Takes one message of `source` (any client that the broker let write it). Returns an envelope when this
  /// piece was the last missing one, nothing while others are missing or for a repeat. Refused as oversized
  /// or overloaded before anything is allocated, as unsupported or malformed when it is not a piece.
  [[nodiscard]] Admitted<std::optional<Bytes>> accept(std::string_view source,
                                                      std::span<const std::byte> message, Time now);

  /// Drops transfers whose last new piece is older than the silence limit, and forgets what was finished that
  /// long ago. Returns the number of unfinished transfers dropped.
  std::size_t expire(Time now);

  /// Bytes charged for unfinished transfers: their totals, from the first piece on.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t bytes_of(std::string_view source) const;
  [[nodiscard]] std::size_t sources() const { return sources_.size(); }
  /// The pieces that an unfinished transfer still lacks; empty when there is no such transfer.
  [[nodiscard]] std::vector<std::uint16_t> missing(std::string_view source, std::uint64_t transfer) const;

 private:
  struct Transfer {
    PieceHeader shape;  ///< of its first piece; count and total hold for all
    Bytes bytes;
    std::vector<bool> present;
    std::size_t present_count = 0;
    Time last_piece{};
  };
  struct Finished {
    std::uint64_t transfer = 0;
    std::uint16_t round = 0;
    Time when{};
  };
  struct Source {
    std::vector<Transfer> unfinished;  ///< oldest first; few
    std::optional<Finished> finished;
    [[nodiscard]] std::size_t bytes() const;
  };
  using Sources = std::map<std::string, Source, std::less<>>;

  [[nodiscard]] Admitted<Transfer*> find_or_open(std::string_view source, const PieceHeader& header);
  [[nodiscard]] Admitted<Transfer*> open(std::string_view source, const PieceHeader& header);
  void drop_oldest(Source& source);
  [[nodiscard]] Bytes finish(Source& source, const PieceHeader& last, Time now);

  PieceAssemblerLimits limits_;
  Sources sources_;
  std::size_t bytes_ = 0;
};

}  // namespace aflguard
