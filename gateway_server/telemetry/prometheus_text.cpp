#include "gateway_server/telemetry/prometheus_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/system/machine/process_memory.h"
#include "core/verdict/verdict.h"
#include "gateway_server/telemetry/learning_watch.h"

namespace aflguard::gateway {
namespace {

/// The guard's verdicts that reject; the other reasons belong to accepted updates.
constexpr Reason kFirstRejection = Reason::kTooFar;
constexpr Reason kLastRejection = Reason::kResidualTooLong;

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return {digits.data(), end};
}

/// A label's value: backslash, quote and newline are written with a backslash.
std::string label_value(std::string_view text) {
  std::string value = "\"";
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') value += '\\';
    if (letter == '\n') {
      value += "\\n";
    } else {
      value += letter;
    }
  }
  return value + "\"";
}

class Writer final {
 public:
  void counter(const char* name, const char* help, std::uint64_t value) {
    begin(name, help, "counter");
    sample(name, value);
  }
  void gauge(const char* name, const char* help, double value) {
    begin(name, help, "gauge");
    sample(name, value);
  }
  template <typename T>
  void gauge(const char* name, const char* help, const std::optional<T>& value) {
    begin(name, help, "gauge");
    if (value) sample(name, static_cast<double>(*value));
  }
  void begin(const std::string& name, const char* help, const char* type) {
    text_ += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  void sample(const std::string& name, std::uint64_t value) {
    text_ += name + " " + std::to_string(value) + "\n";
  }
  void sample(const std::string& name, double value) { text_ += name + " " + number_text(value) + "\n"; }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_updates(Writer& out, const GatewayCounters& counters, const GatewayMetrics& metrics) {
  out.counter("aflguard_updates_accepted_total", "Updates that the guard accepted.", counters.accepted);
  out.begin("aflguard_updates_rejected_total", "Updates that the guard rejected, by its reason.", "counter");
  for (auto i = static_cast<std::size_t>(kFirstRejection); i <= static_cast<std::size_t>(kLastRejection);
       ++i) {
    out.sample(
        "aflguard_updates_rejected_total{reason=" + label_value(to_string(static_cast<Reason>(i))) + "}",
        counters.rejected_by[i].load());
  }
  out.counter("aflguard_updates_altered_total", "Accepted updates that were not applied as they were sent.",
              counters.altered);
  out.counter("aflguard_updates_repeated_total", "Updates that had been judged before.", counters.repeats);
  out.begin("aflguard_messages_refused_total", "Messages that were never judged, by the reason.", "counter");
  for (const auto& [reason, count] : metrics.refused) {
    out.sample("aflguard_messages_refused_total{reason=" + label_value(reason) + "}", count);
  }
  out.counter("aflguard_messages_dropped_total", "Messages lost because the gateway could not keep up.",
              metrics.dropped_messages.value_or(0));
  out.counter("aflguard_transfers_abandoned_total", "Updates of which not all pieces came.",
              metrics.abandoned.value_or(0));
}

void write_delays(Writer& out, const GatewayCounters& counters) {
  const std::string name = "aflguard_update_delay_versions";
  out.begin(name, "Model versions between an update's base and its arrival.", "histogram");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counters.delay_counts.size(); ++i) {
    sum += counters.delay_counts[i];
    const std::string bound = i < kDelayBounds.size() ? std::to_string(kDelayBounds[i]) : "+Inf";
    out.sample(name + "_bucket{le=" + label_value(bound) + "}", sum);
  }
  out.sample(name + "_sum", counters.delay_sum.load());
  out.sample(name + "_count", sum);
}

void write_model(Writer& out, const GatewayCounters& counters, const GatewayMetrics& metrics) {
  out.gauge("aflguard_model_version", "Version of the global model.", static_cast<double>(counters.version));
  out.gauge("aflguard_model_iteration", "Updates judged in the model's whole life.",
            static_cast<double>(counters.iteration));
  const double error = counters.test_error;
  out.gauge("aflguard_test_error", "Error of the model on the gateway's evaluation samples.",
            error >= 0 ? std::optional<double>(error) : std::nullopt);
  std::optional<double> age;
  if (metrics.reference_version) {
    age = std::max(0.0,
                   static_cast<double>(counters.version) - static_cast<double>(*metrics.reference_version));
  }
  out.gauge("aflguard_reference_age_versions", "Model versions since the reference update was computed.",
            age);
  out.gauge("aflguard_reference_age_seconds", "Seconds since the reference update was computed.",
            metrics.reference_age_seconds);
  out.counter("aflguard_references_total", "Reference updates computed.", counters.references);
}

void write_fleet(Writer& out, const Scrape& scrape) {
  const GatewayMetrics& metrics = scrape.metrics;
  out.gauge("aflguard_devices_enrolled", "Devices in the fleet's book.", metrics.devices);
  out.gauge("aflguard_devices_connected", "Devices that say that they are there.", metrics.devices_connected);
  out.gauge("aflguard_devices_lost", "Devices that vanished without saying goodbye.", metrics.devices_lost);
  out.gauge("aflguard_devices_alert", "Devices that need attention.", metrics.devices_alert);
  out.gauge("aflguard_devices_suspicious", "Devices of whose recent updates at least half were rejected.",
            metrics.devices_suspicious);
  out.begin("aflguard_trouble", "1 while something is wrong with the fleet's learning, by its kind.",
            "gauge");
  for (const std::string_view kind :
       {LearningWatch::kTrustedSet, LearningWatch::kRisingError, LearningWatch::kReference}) {
    const bool there =
        std::find(metrics.troubles.begin(), metrics.troubles.end(), kind) != metrics.troubles.end();
    out.sample("aflguard_trouble{kind=" + label_value(kind) + "}", std::uint64_t{there});
  }
  out.gauge("aflguard_broker_connected", "1 while the gateway has a broker.",
            scrape.broker_connected ? 1 : 0);
  out.gauge("aflguard_queue_updates", "Updates between arrival and verdict.", metrics.queue);
  out.gauge("aflguard_inbox_bytes", "Unfinished updates.", metrics.inbox_bytes);
  out.gauge("aflguard_outbox_bytes", "Answers on their way.", metrics.outbox_bytes);
}

void write_store(Writer& out, const GatewayCounters& counters, const GatewayMetrics& metrics) {
  out.begin("aflguard_commit_duration_seconds", "Time that it takes to make verdicts durable.", "summary");
  out.sample("aflguard_commit_duration_seconds_sum", static_cast<double>(counters.commit_microseconds) / 1e6);
  out.sample("aflguard_commit_duration_seconds_count", counters.commits.load());
  out.counter("aflguard_commit_failures_total", "Times that nothing could be stored.",
              counters.commit_failures);
  out.gauge("aflguard_store_failing", "1 while nothing can be stored, so nothing is answered.",
            counters.store_failing ? 1 : 0);
  out.gauge("aflguard_store_free_bytes", "Free space where the store lies.", metrics.store_free_bytes);
  out.gauge("aflguard_store_size_bytes", "All space where the store lies.", metrics.store_total_bytes);
  out.gauge("aflguard_recording_bytes", "Size of the running recording.",
            static_cast<double>(counters.recorded_bytes));
  out.counter("aflguard_replies_total", "Verdicts sent.", counters.replies);
  out.counter("aflguard_replies_with_model_total", "Verdicts sent that carried the model.",
              counters.replies_with_model);
  out.counter("aflguard_replies_dropped_total", "Verdicts that were not sent for want of room.",
              counters.replies_dropped);
  out.counter("aflguard_refusals_answered_total", "Refusals that devices were told, signed.",
              counters.refusals_answered);
  out.counter("aflguard_paced_total", "Verdicts that told their device when to send the next update.",
              counters.paced);
  out.gauge("aflguard_pause_seconds", "How long the latest verdict told its device to wait.",
            static_cast<double>(counters.pause_ms) / 1000);
}

}  // namespace

std::string prometheus_text(const GatewayCounters& counters, const Scrape& scrape) {
  const GatewayMetrics& metrics = scrape.metrics;
  Writer out;
  out.begin("aflguard_gateway_info", "Who is measured; always 1.", "gauge");
  out.sample("aflguard_gateway_info{fleet=" + label_value(scrape.name.fleet) + ",guard=" +
                 label_value(scrape.name.guard) + ",software=" + label_value(scrape.name.software) + "}",
             std::uint64_t{1});
  out.gauge("aflguard_uptime_seconds", "Seconds since the gateway started.", metrics.uptime_seconds);
  write_updates(out, counters, metrics);
  write_delays(out, counters);
  write_model(out, counters, metrics);
  write_fleet(out, scrape);
  write_store(out, counters, metrics);
  out.gauge("process_resident_memory_bytes", "Resident memory of the gateway.",
            resident_megabytes() * 1048576);
  return out.take();
}

}  // namespace aflguard::gateway
