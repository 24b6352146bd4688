#include "gateway_server/telemetry.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/aggregation/verdict.h"
#include "core/base/process_memory.h"
#include "core/base/rfc3339.h"

namespace aflguard {
namespace {

using Json = nlohmann::ordered_json;

/// Text that came from the network may hold anything; JSON may not.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json rejected_by(const GatewayCounters& counters) {
  Json reasons = Json::object();
  for (std::size_t i = 0; i < GatewayCounters::kReasons; ++i) {
    if (const std::uint64_t count = counters.rejected_by[i]; count > 0) {
      reasons[std::string(to_string(static_cast<Reason>(i)))] = count;
    }
  }
  return reasons;
}

}  // namespace

std::string metrics_json(const GatewayCounters& counters, const TelemetryFacts& facts) {
  const std::uint64_t accepted = counters.accepted;
  const std::uint64_t rejected = counters.rejected;
  const std::uint64_t judged = accepted + rejected;
  const std::uint64_t commits = counters.commits;
  const std::uint64_t version = counters.version;
  Json json = {{"schema", "aflguard-gateway-metrics-1"},
               {"fleet", facts.fleet},
               {"guard", facts.guard},
               {"version", version},
               {"iteration", counters.iteration.load()},
               {"updates", judged},
               {"accepted", accepted},
               {"rejected", rejected},
               {"altered", counters.altered.load()},
               {"rejected_by", rejected_by(counters)},
               {"refused", facts.refused},
               {"repeats", counters.repeats.load()},
               {"updates_per_second", facts.updates_per_second},
               {"mean_delay",
                judged > 0 ? static_cast<double>(counters.delay_sum) / static_cast<double>(judged) : 0.0},
               {"reference_version", counters.reference_version.load()},
               {"reference_age", version - std::min<std::uint64_t>(version, counters.reference_version)},
               {"references", counters.references.load()},
               {"commits", commits},
               {"commit_ms", commits > 0 ? static_cast<double>(counters.commit_microseconds) / 1000 /
                                               static_cast<double>(commits)
                                         : 0.0},
               {"commit_failures", counters.commit_failures.load()},
               {"replies", counters.replies.load()},
               {"replies_with_model", counters.replies_with_model.load()},
               {"replies_dropped", counters.replies_dropped.load()},
               {"devices", facts.devices},
               {"queue", facts.waiting},
               {"inbox_bytes", facts.inbox_bytes},
               {"outbox_bytes", facts.outbox_bytes},
               {"abandoned", facts.abandoned},
               {"dropped_messages", facts.dropped_messages},
               {"recorded_bytes", counters.recorded_bytes.load()},
               {"uptime_seconds", facts.uptime_seconds},
               {"rss_mb", resident_megabytes()}};
  if (const double error = counters.test_error; error >= 0) {
    json["test_error"] = error;
    json["evaluated_version"] = counters.evaluated_version.load();
  } else {
    json["test_error"] = nullptr;
  }
  return dump(json);
}

std::string status_json(std::string_view state, const TelemetryFacts& facts, std::string_view message) {
  return dump({{"schema", "aflguard-gateway-status-1"},
               {"state", state},
               {"fleet", facts.fleet},
               {"guard", facts.guard},
               {"software", facts.software},
               {"message", message}});
}

std::string event_json(std::string_view kind, std::string_view text,
                       std::chrono::system_clock::time_point when) {
  return dump({{"schema", "aflguard-event-1"}, {"time", to_rfc3339(when)}, {"kind", kind}, {"text", text}});
}

}  // namespace aflguard
