#pragma once

#include <memory>
#include <string>

#include "core/aggregation/reference_update.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "gateway_server/alerts/fleet_alerts.h"
#include "gateway_server/history/history_store.h"
#include "gateway_server/intake/live_registry.h"
#include "gateway_server/intake/paused_devices.h"
#include "gateway_server/judging/evaluation_thread.h"
#include "gateway_server/judging/update_judge.h"
#include "gateway_server/pipeline/update_pipeline.h"
#include "gateway_server/rollout/rollout_desk.h"
#include "gateway_server/settings/gateway_settings.h"

namespace aflguard::gateway {

/// What a gateway is made from. main() makes it; everything is borrowed and outlives the gateway.
struct GatewayParts {
  GatewaySettings settings;
  FleetTopics topics;
  ModelMessage terms;  ///< fleet, hash, training settings: what every model message carries
  std::size_t dimension = 0;
  std::string software;
  MessageBus& bus;
  LiveRegistry& registry;
  PausedDevices& paused;
  const Verifier& verifier;
  Signer& signer;
  UpdateJudge& judge;
  ReferenceSource* reference = nullptr;             ///< null when the guard needs none
  EvaluationThread::Measure measure = {};           ///< empty: no evaluation
  std::unique_ptr<HistoryStore> history = nullptr;  ///< null: none is kept
  const DeviceRegistry& release;                    ///< the fleet's release keys; may be empty
  NumberedModel model;                              ///< what the fleet trains now
  /// Whether this gateway could train the package in that folder.
  std::function<Status(const std::filesystem::path& package)> try_model;
  std::string trusted_set_problem = {};           ///< empty: the trusted samples are in order
  std::unique_ptr<FleetAlerts> alerts = nullptr;  ///< null: none are sent
  const Clock& clock;
  LogSink& log;
};

/// What can change while a gateway runs; checked before.
struct GatewayChange {
  PipelineChange pipeline;
  std::string guard;  ///< its name
  std::string text;   ///< what has changed, for people
};

/// The live gateway: pieces in, verdicts and models out.
///
///   bus -> UpdatePipeline -> Outbox -> bus
///               |              ^
///               +-> GatewayTelemetry
///
/// The thread that calls run() owns the bus and calls all three.
class Gateway final {
 public:
  explicit Gateway(GatewayParts parts);
  ~Gateway();

  /// Until stop(), or until another model was chosen. Judges what has arrived, commits it, sends what it can
  /// within a few seconds, and returns. Fails when it cannot begin, and when another gateway with this
  /// identity was there first.
  [[nodiscard]] Status run();
  [[nodiscard]] bool came_second() const;
  /// From any thread.
  void stop();
  /// After run(): the model that the fleet was ordered to train. The store is to be changed, and another
  /// gateway made.
  [[nodiscard]] const std::optional<ChosenModel>& chosen() const;
  /// In force within a second. From any thread.
  void change(GatewayChange change);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace aflguard::gateway
