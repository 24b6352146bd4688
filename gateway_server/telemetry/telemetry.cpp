#include "gateway_server/telemetry/telemetry.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"
#include "core/base/short_text.h"
#include "core/system/process_memory.h"
#include "core/verdict/verdict.h"

namespace aflguard::gateway {
namespace {

using Json = nlohmann::ordered_json;

/// Bytes of a text from outside; as many as six times that in JSON, where each is a control character.
constexpr std::size_t kLongestText = 500;

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

Json delay_histogram(const GatewayCounters& counters) {
  Json counts = Json::array();
  for (const auto& count : counters.delay_counts) counts.push_back(count.load());
  return {{"bounds", kDelayBounds}, {"counts", std::move(counts)}};
}

/// Three decimals: the fourth of a rate or a time helps nobody.
double rounded(double number) {
  return std::round(number * 1000) / 1000;
}
Json rounded_or_null(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? Json(rounded(*number)) : Json();
}
template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

void add_learning(Json& json, const GatewayCounters& counters, const TelemetryFacts& facts) {
  const std::uint64_t accepted = counters.accepted;
  const std::uint64_t rejected = counters.rejected;
  const std::uint64_t judged = accepted + rejected;
  json["version"] = counters.version.load();
  json["iteration"] = counters.iteration.load();
  json["updates"] = judged;
  json["accepted"] = accepted;
  json["rejected"] = rejected;
  json["altered"] = counters.altered.load();
  json["rejected_by"] = rejected_by(counters);
  json["refused"] = facts.refused;
  json["repeats"] = counters.repeats.load();
  json["updates_per_second"] = rounded_or_null(facts.updates_per_second);
  json["mean_delay"] =
      judged > 0 ? Json(rounded(static_cast<double>(counters.delay_sum) / static_cast<double>(judged)))
                 : Json();
  json["delay_histogram"] = delay_histogram(counters);
}

void add_reference(Json& json, const GatewayCounters& counters, const TelemetryFacts& facts) {
  const std::uint64_t version = counters.version;
  json["reference_version"] = or_null(facts.reference_version);
  json["reference_age"] = facts.reference_version
                              ? Json(version - std::min<std::uint64_t>(version, *facts.reference_version))
                              : Json();
  json["reference_age_seconds"] = rounded_or_null(facts.reference_age_seconds);
  json["references"] = counters.references.load();
  const double error = counters.test_error;
  const bool evaluated = error >= 0;
  json["test_error"] = evaluated ? Json(error) : Json();
  json["evaluated_version"] = evaluated ? Json(counters.evaluated_version.load()) : Json();
}

void add_works(Json& json, const GatewayCounters& counters, const TelemetryFacts& facts) {
  json["devices"] = facts.devices;
  json["devices_connected"] = facts.devices_connected;
  json["queue"] = facts.waiting;
  json["inbox_bytes"] = facts.inbox_bytes;
  json["outbox_bytes"] = facts.outbox_bytes;
  json["abandoned"] = facts.abandoned;
  json["dropped_messages"] = facts.dropped_messages;
  json["commits"] = counters.commits.load();
  json["commit_ms"] = rounded_or_null(facts.commit_ms);
  json["commit_failures"] = counters.commit_failures.load();
  json["replies"] = counters.replies.load();
  json["replies_with_model"] = counters.replies_with_model.load();
  json["replies_dropped"] = counters.replies_dropped.load();
  json["recorded_bytes"] = counters.recorded_bytes.load();
  json["store_free_bytes"] = or_null(facts.store_free_bytes);
  json["store_total_bytes"] = or_null(facts.store_total_bytes);
}

}  // namespace

std::string metrics_json(const GatewayCounters& counters, const TelemetryFacts& facts) {
  Json json = {{"schema", "aflguard-gateway-metrics-1"},
               {"time", to_rfc3339(facts.time)},
               {"uptime_seconds", rounded(facts.uptime_seconds)},
               {"fleet", facts.name.fleet},
               {"guard", facts.name.guard},
               {"rss_mb", rounded(resident_megabytes())}};
  add_learning(json, counters, facts);
  add_reference(json, counters, facts);
  add_works(json, counters, facts);
  return dump(json);
}

std::string status_json(std::string_view state, const GatewayName& name, std::string_view message) {
  return dump({{"schema", "aflguard-gateway-status-1"},
               {"state", state},
               {"fleet", name.fleet},
               {"guard", name.guard},
               {"software", name.software},
               {"message", shortened(message, kLongestText)}});
}

std::string event_json(std::string_view kind, std::string_view device, std::string_view text,
                       std::chrono::system_clock::time_point when) {
  Json json = {{"schema", "aflguard-event-1"}, {"time", to_rfc3339(when)}, {"kind", kind}};
  if (!device.empty()) json["device"] = device;
  json["text"] = shortened(text, kLongestText);
  return dump(json);
}

std::string health_json(const std::vector<std::string>& problems) {
  return dump({{"schema", "aflguard-health-1"}, {"healthy", problems.empty()}, {"problems", problems}}) +
         "\n";
}

}  // namespace aflguard::gateway
