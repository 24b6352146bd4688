#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/every.h"
#include "core/base/log.h"
#include "core/telemetry/gateway_metrics.h"
#include "core/telemetry/gateway_status.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "gateway_server/alerts/fleet_alerts.h"
#include "gateway_server/history/fleet_history.h"
#include "gateway_server/intake/live_registry.h"
#include "gateway_server/intake/refusal_log.h"
#include "gateway_server/judging/gateway_store.h"
#include "gateway_server/telemetry/device_presence.h"
#include "gateway_server/telemetry/device_summaries.h"
#include "gateway_server/telemetry/event_stream.h"
#include "gateway_server/telemetry/home_assistant.h"
#include "gateway_server/telemetry/learning_watch.h"
#include "gateway_server/telemetry/metrics_collector.h"
#include "gateway_server/telemetry/metrics_server.h"

namespace aflguard::gateway {

/// What telemetry is made from. References are borrowed.
struct TelemetryParts {
  FleetTopics topics;
  GatewayName name;
  std::filesystem::path store_folder;
  std::chrono::steady_clock::duration interval{};  ///< between metrics
  std::optional<std::string> metrics_listen = {};
  std::optional<std::string> home_assistant_prefix = {};
  std::string trusted_set_problem = {};             ///< empty: the trusted samples are in order
  std::unique_ptr<FleetAlerts> alerts = nullptr;    ///< null: none are sent
  std::unique_ptr<HistoryStore> history = nullptr;  ///< null: none is kept
  MessageBus& bus;                                  ///< for events and answers
  std::function<void(Message)> retain;              ///< takes a retained message; replaces one of its topic
  std::function<GatewayLoad()> load;
  const LiveRegistry& registry;
  const GatewayCounters& counters;
  RefusalLog& refusals;
  const Clock& clock;
  LogSink& log;
};

/// What the gateway shows to people: status, metrics, summaries, events, history, Home Assistant's sensors,
/// /metrics and /healthz. Nothing decides on it. Owned by the thread that reads the bus's events.
class GatewayTelemetry final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit GatewayTelemetry(TelemetryParts parts);
  ~GatewayTelemetry();

  /// A device as the store knows it.
  void add(const DeviceRecord& device);
  /// Opens the port of /metrics, where there is one.
  [[nodiscard]] Status start();

  void on_connected();
  void on_disconnected() { health_.set_connected(false); }
  /// A message of up/<device>/status. True when the device is connected and asks what this gateway takes.
  bool take_status(const std::string& device, const Message& message);
  /// A message of ask/<viewer>/history.
  void take_question(const std::string& viewer, Message message);
  [[nodiscard]] bool answers_questions() const { return history_.has_value(); }
  void show_verdict(const JudgedUpdate& update, Time now);
  /// Takes back what is published of devices that are not enrolled any more, and announces new ones.
  void follow_book(const BookNews& news);

  /// The gateway works with other settings, `text` says which.
  void settings_changed(const std::string& guard, const std::string& text);

  /// Publishes what is due.
  void tick(Time now);
  /// Sends answers to questions, as many as the bus takes.
  void send_answers();
  /// The thread of the bus has moved.
  void note_alive() { health_.note_bus_thread(); }

  // The end, in this order.
  void announce_stop();
  void stop_history();
  void publish_goodbye(Time now);
  void close_port() { server_.close(); }

 private:
  void forget(const std::string& device);
  void take_back_summary(const std::string& device);
  void take_back(const std::string& device);
  void send_alerts(const GatewayMetrics& known);
  void take_back_again(Time now);
  void publish_state();
  void publish_status(GatewayState state, const std::string& message);
  void follow_store();
  void follow_learning();
  void publish_summaries(Time now);
  void publish_sensors(Time now);
  void publish_metrics(Time now);
  void notify_service();
  [[nodiscard]] GatewayMetrics metrics(Time now) const;
  [[nodiscard]] HistoryCollector::Totals totals() const;

  TelemetryParts parts_;
  DevicePresence presence_;
  DeviceSummaries summaries_;
  EventStream events_;
  std::optional<FleetHistory> history_;
  std::optional<Message> answer_;  ///< the next to send
  std::optional<HomeAssistant> home_;
  MetricsCollector collector_;
  GatewayHealth health_;
  LearningWatch learning_;
  MetricsServer server_;
  Every summaries_due_;
  Every history_due_;
  Every metrics_due_;
  Every taking_back_due_;
  /// Devices that left, and how often their status will be taken back again: the broker may not have read yet
  /// that this gateway may, and a last will may come after it.
  std::map<std::string, int> gone_;
  std::string store_problem_;  ///< as last published
  bool start_announced_ = false;
};

}  // namespace aflguard::gateway
