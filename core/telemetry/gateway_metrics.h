#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/telemetry/wall_time.h"

namespace aflguard {

/// {reason: count}, in the order of the message.
using ReasonCounts = std::vector<std::pair<std::string, std::uint64_t>>;

/// Versions between an update's base and its arrival: at most the first bound, at most the second, ..., and
/// above the last. One count more than bounds, or nothing at all.
struct DelayHistogram {
  std::vector<std::uint64_t> bounds{};
  std::vector<std::uint64_t> counts{};
};

/// gateway/metrics: the gateway's figures. docs/topics.md says what each is. What is not known is absent here
/// and null in the message.
struct GatewayMetrics {
  std::optional<WallTime> time{};
  std::optional<double> uptime_seconds{};
  std::string fleet{};
  std::string guard{};
  std::optional<double> rss_mb{};

  std::optional<std::uint64_t> version{};
  std::optional<std::uint64_t> iteration{};
  std::optional<std::uint64_t> updates{};
  std::optional<std::uint64_t> accepted{};
  std::optional<std::uint64_t> rejected{};
  std::optional<std::uint64_t> altered{};
  ReasonCounts rejected_by{};
  ReasonCounts refused{};
  std::optional<std::uint64_t> repeats{};
  std::optional<double> updates_per_second{};
  std::optional<double> mean_delay{};
  DelayHistogram delay_histogram{};

  std::optional<std::uint64_t> reference_version{};
  std::optional<std::uint64_t> reference_age{};
  std::optional<double> reference_age_seconds{};
  std::optional<std::uint64_t> references{};
  std::optional<double> test_error{};
  std::optional<std::uint64_t> evaluated_version{};

  std::optional<std::uint64_t> devices{};
  std::optional<std::uint64_t> devices_connected{};
  std::optional<std::uint64_t> devices_lost{};
  std::optional<std::uint64_t> devices_alert{};
  std::optional<std::uint64_t> devices_suspicious{};
  std::vector<std::string> troubles{};  ///< of the fleet's learning; docs/topics.md lists the kinds
  std::optional<std::uint64_t> queue{};
  std::optional<std::uint64_t> inbox_bytes{};
  std::optional<std::uint64_t> outbox_bytes{};
  std::optional<std::uint64_t> abandoned{};
  std::optional<std::uint64_t> dropped_messages{};
  std::optional<std::uint64_t> commits{};
  std::optional<double> commit_ms{};
  std::optional<std::uint64_t> commit_failures{};
  std::optional<std::uint64_t> replies{};
  std::optional<std::uint64_t> replies_with_model{};
  std::optional<std::uint64_t> replies_dropped{};
  std::optional<std::uint64_t> refusals_answered{};
  std::optional<std::uint64_t> paced{};
  std::optional<std::uint64_t> pause_ms{};
  std::optional<std::uint64_t> recorded_bytes{};
  std::optional<std::uint64_t> store_free_bytes{};
  std::optional<std::uint64_t> store_total_bytes{};
};

/// One line of JSON, below 4 KB.
[[nodiscard]] std::string to_json(const GatewayMetrics& metrics);

/// None when the text is something else. Figures of a wrong kind count as not known.
[[nodiscard]] std::optional<GatewayMetrics> read_gateway_metrics(std::string_view payload);

/// The figures that are known and plain numbers, by their names in the message.
[[nodiscard]] std::map<std::string, double> figures(const GatewayMetrics& metrics);

}  // namespace aflguard
