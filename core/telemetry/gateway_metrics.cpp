#include "core/telemetry/gateway_metrics.h"

#include <cmath>

#include "core/base/identifier.h"
#include "core/base/plain_text.h"
#include "core/telemetry/json_reading.h"
#include "core/telemetry/json_writing.h"
#include "core/telemetry/schemas.h"

namespace aflguard {
namespace {

/// A number that is written with all its digits; others have three decimals, of which the fourth would
/// not help.
template <typename Number>
struct Exact {
  Number& number;
};
template <typename Number>
Exact(Number&) -> Exact<Number>;

/// Every field, in the order of the message: the one list that writer, reader and figures() go through.
template <typename Metrics, typename Visit>
void visit_fields(Metrics& metrics, Visit&& visit) {
  visit("time", metrics.time);
  visit("uptime_seconds", metrics.uptime_seconds);
  visit("fleet", metrics.fleet);
  visit("guard", metrics.guard);
  visit("rss_mb", metrics.rss_mb);
  visit("version", metrics.version);
  visit("iteration", metrics.iteration);
  visit("updates", metrics.updates);
  visit("accepted", metrics.accepted);
  visit("rejected", metrics.rejected);
  visit("altered", metrics.altered);
  visit("rejected_by", metrics.rejected_by);
  visit("refused", metrics.refused);
  visit("repeats", metrics.repeats);
  visit("updates_per_second", metrics.updates_per_second);
  visit("mean_delay", metrics.mean_delay);
  visit("delay_histogram", metrics.delay_histogram);
  visit("reference_version", metrics.reference_version);
  visit("reference_age", metrics.reference_age);
  visit("reference_age_seconds", metrics.reference_age_seconds);
  visit("references", metrics.references);
  visit("test_error", Exact{metrics.test_error});
  visit("evaluated_version", metrics.evaluated_version);
  visit("devices", metrics.devices);
  visit("devices_connected", metrics.devices_connected);
  visit("devices_lost", metrics.devices_lost);
  visit("devices_alert", metrics.devices_alert);
  visit("devices_suspicious", metrics.devices_suspicious);
  visit("troubles", metrics.troubles);
  visit("queue", metrics.queue);
  visit("inbox_bytes", metrics.inbox_bytes);
  visit("outbox_bytes", metrics.outbox_bytes);
  visit("abandoned", metrics.abandoned);
  visit("dropped_messages", metrics.dropped_messages);
  visit("commits", metrics.commits);
  visit("commit_ms", metrics.commit_ms);
  visit("commit_failures", metrics.commit_failures);
  visit("replies", metrics.replies);
  visit("replies_with_model", metrics.replies_with_model);
  visit("replies_dropped", metrics.replies_dropped);
  visit("refusals_answered", metrics.refusals_answered);
  visit("paced", metrics.paced);
  visit("pause_ms", metrics.pause_ms);
  visit("recorded_bytes", metrics.recorded_bytes);
  visit("store_free_bytes", metrics.store_free_bytes);
  visit("store_total_bytes", metrics.store_total_bytes);
}

using Count = std::optional<std::uint64_t>;
using Figure = std::optional<double>;

class Writer final {
 public:
  explicit Writer(OrderedJson& json) : json_(json) {}

  void operator()(const char* name, const std::optional<WallTime>& time) const {
    json_[name] = time_or_null(time);
  }
  void operator()(const char* name, const std::string& text) const { json_[name] = text; }
  void operator()(const char* name, const Count& count) const { json_[name] = or_null(count); }
  void operator()(const char* name, const Figure& number) const {
    json_[name] = number && std::isfinite(*number) ? OrderedJson(rounded(*number, 3)) : OrderedJson();
  }
  void operator()(const char* name, const Exact<const Figure>& exact) const {
    json_[name] = or_null(exact.number);
  }
  void operator()(const char* name, const ReasonCounts& counts) const {
    OrderedJson reasons = OrderedJson::object();
    for (const auto& [reason, count] : counts) reasons[reason] = count;
    json_[name] = std::move(reasons);
  }
  void operator()(const char* name, const std::vector<std::string>& texts) const { json_[name] = texts; }
  void operator()(const char* name, const DelayHistogram& histogram) const {
    json_[name] = {{"bounds", histogram.bounds}, {"counts", histogram.counts}};
  }

 private:
  OrderedJson& json_;
};

class Reader final {
 public:
  explicit Reader(const ReadJson& json) : json_(json) {}

  void operator()(const char* name, std::optional<WallTime>& time) const { time = time_field(json_, name); }
  void operator()(const char* name, std::string& text) const {
    text = text_field(json_, name, kMaxIdentifierLength);
  }
  void operator()(const char* name, Count& count) const { count = count_field(json_, name); }
  void operator()(const char* name, Figure& number) const { number = number_field(json_, name); }
  void operator()(const char* name, const Exact<Figure>& exact) const {
    exact.number = number_field(json_, name);
  }
  void operator()(const char* name, ReasonCounts& counts) const {
    const ReadJson* found = find_field(json_, name);
    if (found == nullptr || !found->is_object()) return;
    for (const auto& [reason, value] : found->items()) {
      if (counts.size() == kMaxReadReasons) return;
      if (const auto count = as_count(&value)) counts.emplace_back(plain_text(reason, kMaxReadName), *count);
    }
  }
  void operator()(const char* name, std::vector<std::string>& texts) const {
    const ReadJson* found = find_field(json_, name);
    if (found == nullptr || !found->is_array()) return;
    for (const ReadJson& entry : *found) {
      if (texts.size() == kMaxReadReasons) return;
      if (entry.is_string()) texts.push_back(plain_text(entry.get<std::string>(), kMaxReadName));
    }
  }
  void operator()(const char* name, DelayHistogram& histogram) const {
    const ReadJson* found = find_field(json_, name);
    if (found == nullptr) return;
    const ReadJson* bounds = find_field(*found, "bounds");
    const ReadJson* counts = find_field(*found, "counts");
    if (bounds == nullptr || counts == nullptr || !bounds->is_array() || !counts->is_array() ||
        bounds->size() > kMaxReadReasons || counts->size() != bounds->size() + 1) {
      return;
    }
    for (const ReadJson& bound : *bounds) histogram.bounds.push_back(as_count(&bound).value_or(0));
    for (const ReadJson& count : *counts) histogram.counts.push_back(as_count(&count).value_or(0));
  }

 private:
  const ReadJson& json_;
};

}  // namespace

std::string to_json(const GatewayMetrics& metrics) {
  OrderedJson json = {{"schema", kGatewayMetricsSchema}};
  visit_fields(metrics, Writer(json));
  return json_text(json);
}

std::optional<GatewayMetrics> read_gateway_metrics(std::string_view payload) {
  const auto json = parse_message(payload, kGatewayMetricsSchema);
  if (!json) return std::nullopt;
  GatewayMetrics metrics;
  visit_fields(metrics, Reader(*json));
  return metrics;
}

std::map<std::string, double> figures(const GatewayMetrics& metrics) {
  std::map<std::string, double> known;
  struct Collector {
    std::map<std::string, double>& known;
    void operator()(const char* name, const Count& count) const {
      if (count) known[name] = static_cast<double>(*count);
    }
    void operator()(const char* name, const Figure& number) const {
      if (number) known[name] = *number;
    }
    void operator()(const char* name, const Exact<const Figure>& exact) const { (*this)(name, exact.number); }
    void operator()(const char*, const std::optional<WallTime>&) const {}
    void operator()(const char*, const std::string&) const {}
    void operator()(const char*, const ReasonCounts&) const {}
    void operator()(const char*, const std::vector<std::string>&) const {}
    void operator()(const char*, const DelayHistogram&) const {}
  };
  visit_fields(metrics, Collector{known});
  return known;
}

}  // namespace aflguard
