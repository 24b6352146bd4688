#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/envelope.h"
#include "core/envelope/membership.h"
#include "core/envelope/message_codec.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "edge_client/receiving/gateway_inbox.h"
#include "edge_client/receiving/model_fetch.h"
#include "edge_client/sending/outgoing_update.h"
#include "edge_client/sending/update_encoding.h"
#include "edge_client/sending/update_spool.h"
#include "edge_client/status/status_publisher.h"
#include "edge_client/training/local_training.h"
#include "edge_client/training/training_schedule.h"
#include "edge_client/upgrading/model_upgrade.h"

namespace aflguard::edge {

/// What can change while the engine runs.
struct LiveSettings {
  ScheduleSettings schedule;
  AnswerTimeouts answer;
  std::chrono::milliseconds status_interval{30'000};
  EncodingWish encoding;
};

struct EngineSettings {
  Membership membership;
  AnswerTimeouts answer;
  ModelTimeouts model;
  std::chrono::milliseconds status_interval{30'000};
  std::uint64_t jitter_seed = 0;  ///< different on every device
  EncodingWish encoding;          ///< of updates, once the gateway has made an offer
  std::string software;
  std::string model_name;
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
  UpdateEncoder encode = {};  ///< empty: the product's way
  std::function<BoardReadings()> board = [] { return BoardReadings(); };
  ModelUpgrade* upgrade = nullptr;  ///< null: this device takes no models from the fleet
};

/// The device: model in, one update at a time out, verdict in, and again. A state machine over the events of
/// a message bus: no thread, no waiting; only training takes time.
///
///   engine.start();
///   while (running) { auto event = bus.next_event(engine.step()); if (event) engine.handle(*event); }
///   engine.say_goodbye(), and events until goodbye_said()
///
/// An update is durable before its first piece leaves and is the same bytes until its verdict has come,
/// through lost links, lost verdicts and restarts; after a restart with a new key, the same payload with a
/// new signature. A verdict counts only for the update that waits; what is not signed by the gateway counts
/// for nothing.
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

  /// Other settings from now on: schedule, encoding, and how often a status goes out. How long an answer is
  /// waited for counts from the next update on.
  void change(const LiveSettings& settings);

  /// Publishes the state `disconnected`.
  void say_goodbye();
  /// The broker has the goodbye, or there is no hope for it.
  [[nodiscard]] bool goodbye_said() const { return status_.goodbye_said(); }

  [[nodiscard]] const DeviceStatus& status() const { return status_.status(); }
  /// The newest model at hand; null while there is none. Changes with handle().
  [[nodiscard]] const ModelMessage* model() const { return models_.model() ? &*models_.model() : nullptr; }
  /// What was measured of a model on this board's own samples: the next status has it.
  void measured(const LocalError& error) { status_.measured(error); }
  /// The program shall end this engine and start again: with the model that the fleet trains.
  [[nodiscard]] bool change_due() const { return parts_.upgrade != nullptr && parts_.upgrade->switch_due(); }
  /// What the status says of something beside the engine, until an empty text says that it is well again.
  void report(Alert alert, const std::string& problem);

 private:
  struct Unsaved {
    std::uint64_t sequence = 0;
    Bytes envelope;
  };

  [[nodiscard]] Status take_up(SpooledUpdate waiting);
  void on_connected(const BusConnected& event);
  void on_disconnected();
  void on_received(Message message);
  void on_model(Bytes envelope);
  void on_piece(std::span<const std::byte> piece);
  void on_offer(OfferMessage offer);
  void on_difference(const DifferenceMessage& difference);
  void on_whole_model(ModelMessage model);
  void on_verdict(ReceivedVerdict verdict);
  void on_refusal(const RefusalMessage& refusal);
  void give_up_update(const std::string& why);
  void finish_update(const VerdictMessage& verdict);
  void take_model_of(ReceivedVerdict verdict);
  void model_taken();
  void refused(const Refusal& refusal);

  [[nodiscard]] Time train_when_due(Time now);
  [[nodiscard]] Time train(Time now);
  [[nodiscard]] Status seal(TrainedUpdate update);
  [[nodiscard]] Result<SealedEnvelope> sealed(UpdateMessage update);
  [[nodiscard]] Time save_when_due(Time now);
  void begin_sending(std::uint64_t sequence, Bytes envelope);
  [[nodiscard]] Time send_when_due(Time now);
  [[nodiscard]] bool fall_back_to_first_format();
  void doubt_the_offer();
  void report_silence();
  void learn_fleets_model();
  [[nodiscard]] Time upgrade_when_due(Time now);
  [[nodiscard]] Time publish_status_when_due(Time now);

  EngineSettings settings_;
  TrainingSchedule schedule_;
  EngineParts parts_;
  GatewayInbox inbox_;
  ModelFetch models_;
  StatusPublisher status_;
  const std::string update_topic_;
  const std::string verdict_topic_;
  const std::string trial_topic_;

  bool connected_ = false;
  std::optional<OfferMessage> offer_;       ///< without one, updates are in format 1
  Time offer_awaited_until_{};              ///< training waits so long for one on a new connection
  std::optional<Unsaved> unsaved_;          ///< sealed, and not yet on the disk
  std::optional<OutgoingUpdate> outgoing_;  ///< on the disk, and not yet judged
  Backoff retries_;                         ///< of training and saving
  Time retry_at_{};
  std::string retry_reason_;
  std::string waiting_for_;  ///< why there is no training now
  struct LastRefusal {
    std::string reason;
    std::string text;
  };
  LastRefusal refusal_;  ///< what the gateway said last of the update on its way
};

}  // namespace aflguard::edge
