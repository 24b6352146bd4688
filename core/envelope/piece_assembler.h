#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/envelope/finished_transfers.h"
#include "core/envelope/piece.h"

namespace aflguard {

struct PieceAssemblerLimits {
  std::size_t max_envelope_bytes = 16u << 20;
  std::size_t max_bytes_per_source = 32u << 20;
  std::size_t max_bytes = 256u << 20;
  std::size_t max_transfers_per_source = 4;
  /// Senders whose latest finished transfer is remembered: 24 bytes each.
  std::size_t finished_places = 4096;
  std::chrono::steady_clock::duration silence = std::chrono::seconds(120);
  /// Where there is no room, transfers that have been silent for so long make some.
  std::chrono::steady_clock::duration stalled = std::chrono::seconds(10);
};

/// What an unfinished transfer costs beside its bytes, as it counts towards PieceAssemblerLimits::max_bytes.
inline constexpr std::size_t kTransferOverhead = 512;

/// Puts envelopes together from pieces of many senders. A state machine: no I/O, no thread, no clock. Memory
/// is bounded by the limits whatever arrives, and one sender pushes out another's pieces only where those
/// have stalled. How many senders there are has no limit: one that has nothing unfinished costs nothing, or
/// 24 bytes.
class PieceAssembler final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit PieceAssembler(const PieceAssemblerLimits& limits = {})
      : limits_(limits), finished_(limits.finished_places, limits.silence) {}

  /// Takes one message of `source` (any client that the broker let write it). Returns an envelope when this
  /// piece was the last missing one, nothing while others are missing or for a repeat. Refused as oversized
  /// or overloaded before anything is allocated, as unsupported or malformed when it is not a piece.
  [[nodiscard]] Admitted<std::optional<Bytes>> accept(std::string_view source,
                                                      std::span<const std::byte> message, Time now);

  /// Other bounds for what opens from now on; what is here already stays.
  void set_limits(const PieceAssemblerLimits& limits) { limits_ = limits; }

  /// True when a piece with this header would open a transfer.
  [[nodiscard]] bool opens(std::string_view source, const PieceHeader& header, Time now) const;

  /// Drops transfers whose last new piece is older than the silence limit. Returns how many.
  std::size_t expire(Time now);

  /// Unfinished transfers that had to make room since the last call: the sender and its transfer.
  struct PushedOut {
    std::string source;
    std::uint64_t transfer = 0;
  };
  [[nodiscard]] std::vector<PushedOut> take_pushed_out() { return std::exchange(pushed_out_, {}); }

  /// Bytes of unfinished transfers: their totals, from the first piece on.
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// The same with what each costs besides, as it counts towards the limit of all senders.
  [[nodiscard]] std::size_t charge() const { return bytes_ + transfers_ * kTransferOverhead; }
  [[nodiscard]] std::size_t transfers() const { return transfers_; }
  [[nodiscard]] std::size_t bytes_of(std::string_view source) const;
  /// Senders with something unfinished.
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
    void place(const Piece& piece);
  };
  struct Source {
    std::vector<Transfer> unfinished;  ///< oldest first; few, at least one
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t charge() const { return bytes() + unfinished.size() * kTransferOverhead; }
  };
  using Sources = std::map<std::string, Source, std::less<>>;

  [[nodiscard]] Admitted<Transfer*> find_or_open(std::string_view source, const PieceHeader& header,
                                                 Time now);
  [[nodiscard]] Admitted<Transfer*> open(std::string_view source, const PieceHeader& header, Time now);
  void drop_oldest(Source& source);
  void forget(const Transfer& transfer);
  /// Those without a new piece for `longest`; into `dropped`, when there is one.
  std::size_t drop_silent(Time now, std::chrono::steady_clock::duration longest,
                          std::vector<PushedOut>* dropped);
  [[nodiscard]] Bytes finish(Sources::iterator source, const PieceHeader& last, Time now);

  PieceAssemblerLimits limits_;
  Sources sources_;
  FinishedTransfers finished_;
  std::vector<PushedOut> pushed_out_;
  std::size_t bytes_ = 0;
  std::size_t transfers_ = 0;
  Time looked_for_stalled_{};
};

}  // namespace aflguard
