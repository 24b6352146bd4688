#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>

#include "gateway_server/judging/store_report.h"

namespace aflguard::gateway {

/// Delays are counted in classes: at most the first, at most the second, ..., above the last.
inline constexpr std::array<std::uint64_t, 9> kDelayBounds = {0, 1, 2, 4, 8, 16, 32, 64, 128};

/// What the gateway's threads count for telemetry. Each figure stands by itself; none decides anything.
struct GatewayCounters {
  static constexpr std::size_t kReasons = 64;

  std::atomic<std::uint64_t> iteration{0};
  std::atomic<std::uint64_t> version{0};
  std::atomic<std::uint64_t> accepted{0};  ///< since the start, like all below
  std::atomic<std::uint64_t> rejected{0};
  std::atomic<std::uint64_t> altered{0};  ///< accepted, but not applied as they were sent
  std::array<std::atomic<std::uint64_t>, kReasons> rejected_by{};  ///< by Reason
  std::atomic<std::uint64_t> repeats{0};
  std::atomic<std::uint64_t> commits{0};
  std::atomic<std::uint64_t> commit_failures{0};
  std::atomic<std::uint64_t> commit_microseconds{0};  ///< sum
  std::atomic<std::uint64_t> references{0};
  std::atomic<std::int64_t> reference_version{-1};  ///< below 0: there is none
  std::atomic<std::int64_t> reference_ms{-1};       ///< steady clock; when it came, below 0: before the start
  std::atomic<std::uint64_t> replies{0};
  std::atomic<std::uint64_t> replies_with_model{0};
  std::atomic<std::uint64_t> replies_dropped{0};
  std::atomic<std::uint64_t> refusals_answered{0};
  std::atomic<std::uint64_t> paced{0};      ///< verdicts that said when the next update should come
  std::atomic<std::uint64_t> pause_ms{0};   ///< what the last verdict said
  std::atomic<std::uint64_t> delay_sum{0};  ///< over judged updates
  std::array<std::atomic<std::uint64_t>, kDelayBounds.size() + 1> delay_counts{};  ///< the same, by class
  std::atomic<std::uint64_t> recorded_bytes{0};
  std::atomic<double> test_error{-1};  ///< below 0: not evaluated
  std::atomic<std::uint64_t> evaluated_version{0};
  std::atomic<std::uint64_t> evaluations{0};
  std::atomic<double> reference_loss{std::numeric_limits<double>::quiet_NaN()};  ///< of the trusted samples
  std::atomic<std::int64_t> judge_alive_ms{0};  ///< steady clock; when the judging thread last moved
  std::atomic<bool> store_failing{false};
  StoreReport store_report;
};

}  // namespace aflguard::gateway
