#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/envelope.h"
#include "core/envelope/message_codec.h"
#include "core/telemetry/device_status.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "edge_client/receiving/gateway_inbox.h"
#include "edge_client/sending/outgoing_update.h"
#include "edge_client/sending/update_spool.h"
#include "edge_client/training/local_training.h"
#include "edge_client/training/training_schedule.h"

namespace aflguard::edge {

struct EngineSettings {
  InboxOptions terms;  ///< fleet, device, model
  AnswerTimeouts answer;
  /// How long to wait for a newer model before going on with the one at hand.
  std::chrono::milliseconds model_timeout{20'000};
  /// A model that lay around for longer is fetched anew before it is trained on.
  std::chrono::milliseconds model_age{30'000};
  std::chrono::milliseconds status_interval{30'000};
  std::uint64_t jitter_seed = 0;  ///< different on every device
  std::string software;
  std::optional<std::chrono::system_clock::time_point> certificate_until;
};

/// How an update becomes the payload that is signed.
using UpdateEncoder = std::function<Result<Payload>(const UpdateMessage&)>;

/// What the engine works with; all borrowed.
struct EngineParts {
  MessageBus& bus;
  EnvelopeSealer& sealer;        ///< the device's key
  const EnvelopeOpener& opener;  ///< the gateway's keys
  const Verifier& verifier;
  LocalTraining& training;
  UpdateSpool& spool;
  const Clock& clock;
  LogSink& log;
  std::function<std::chrono::nanoseconds()> cpu_time;  ///< of this process so far
  LocalTraining::KeepGoing keep_going;
  UpdateEncoder encode = [](const UpdateMessage& update) { return aflguard::encode(update); };
  std::function<BoardReadings()> board = [] { return BoardReadings(); };
};

/// The device: model in, one update at a time out, verdict in, and again. A state machine over the events of
/// a message bus: no thread, no waiting; only training takes time.
///
///   engine.start();
///   while (running) { auto event = bus.next_event(engine.step()); if (event) engine.handle(*event); }
///   engine.say_goodbye(), and events until goodbye_said()
///
/// An update is durable before its first piece leaves and is the same bytes until its verdict has come,
/// through lost links, lost verdicts and restarts; after a restart with a new key, the same payload signed
/// anew. A verdict counts only for the update that waits; what is not signed by the gateway counts for
/// nothing.
class ClientEngine final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  ClientEngine(EngineSettings settings, TrainingSchedule schedule, const FleetTopics& topics,
               const EngineParts& parts);

  /// Takes up what the spool kept if this device can still send it, subscribes, starts the bus.
  [[nodiscard]] Status start();
  void handle(BusEvent event);
  /// Does what is due; the time at which it wants to be called again, at the latest.
  [[nodiscard]] Time step();

  /// Publishes the state `disconnected`.
  void say_goodbye();
  /// The broker has the goodbye, or there is no hope for it.
  [[nodiscard]] bool goodbye_said() const { return goodbye_ == 0; }

  [[nodiscard]] const DeviceStatus& status() const { return status_; }

 private:
  /// What needs somebody's attention, until it is over.
  enum class Alert : std::uint8_t { kSpool, kModel, kTraining, kCertificate, kCount };
  struct Unsaved {
    std::uint64_t sequence = 0;
    Bytes envelope;
  };
  struct Fetch {
    std::uint64_t at_least = 0;  ///< older versions are no answer
    Time started;
  };

  [[nodiscard]] Status take_up(SpooledUpdate waiting);
  void on_connected(const BusConnected& event);
  void on_disconnected();
  void on_received(Message message);
  void on_model(Bytes envelope);
  void on_verdict_piece(std::span<const std::byte> piece);
  void on_verdict(ReceivedVerdict verdict);
  void finish_update(const VerdictMessage& verdict);
  void take_model_of(ReceivedVerdict verdict);

  void fetch_model(std::uint64_t at_least);
  void adopt(ModelMessage model);

  [[nodiscard]] Time train_when_due(Time now);
  [[nodiscard]] Time train(Time now);
  [[nodiscard]] Status seal(TrainedUpdate update);
  [[nodiscard]] Time save_when_due(Time now);
  void begin_sending(std::uint64_t sequence, Bytes envelope);
  [[nodiscard]] Time send_when_due(Time now);

  [[nodiscard]] Time publish_status_when_due(Time now);
  void publish_status(Time now);
  [[nodiscard]] DeviceState state() const;
  [[nodiscard]] std::string message() const;
  void check_certificate();
  void raise(Alert alert, const std::string& text);
  void clear(Alert alert) { alerts_[static_cast<std::size_t>(alert)].clear(); }
  void refused(const Refusal& refusal);

  const EngineSettings settings_;
  TrainingSchedule schedule_;
  EngineParts parts_;
  GatewayInbox inbox_;
  const std::string update_topic_;
  const std::string verdict_topic_;
  const std::string model_topic_;
  const std::string status_topic_;

  bool connected_ = false;
  std::optional<ModelMessage> model_;
  Time model_time_{};
  std::optional<Fetch> fetch_;
  std::optional<Unsaved> unsaved_;          ///< sealed, and not yet on the disk
  std::optional<OutgoingUpdate> outgoing_;  ///< on the disk, and not yet judged
  Backoff retries_;                         ///< of training and saving
  Time retry_at_{};
  std::string retry_reason_;
  std::string waiting_for_;  ///< why there is no training now

  DeviceStatus status_;
  std::array<std::string, static_cast<std::size_t>(Alert::kCount)> alerts_;
  DeviceState published_state_ = DeviceState::kInit;
  std::string published_message_;
  std::uint64_t published_figures_ = 0;  ///< how often figures had changed by then
  std::uint64_t figures_ = 0;            ///< how often they have by now
  Time status_time_{};
  bool status_published_ = false;
  PublishId goodbye_ = 0;
  std::uint64_t refusals_since_log_ = 0;
  Time refusal_log_time_{};
};

}  // namespace aflguard::edge
