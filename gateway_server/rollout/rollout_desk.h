#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/envelope.h"
#include "core/identity/device_registry.h"
#include "core/release/package_download.h"
#include "core/release/release_message.h"
#include "core/release/trial_report.h"
#include "core/telemetry/rollout_status.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"

namespace aflguard::gateway {

/// The model that the fleet shall train from now on, in a folder that unpack_package() wrote.
struct ChosenModel {
  std::uint64_t number = 0;
  std::string name;
  std::string hash;  ///< hex
  std::filesystem::path package;
};

/// What a desk is made from; references are borrowed.
struct RolloutParts {
  std::filesystem::path folder;  ///< orders and packages; made when there is an order
  std::string fleet;
  NumberedModel current;          ///< what the fleet trains now
  const DeviceRegistry& release;  ///< holds release keys only; empty: no order is taken
  const DeviceRegistry& devices;
  std::function<bool(std::string_view)> is_enrolled;
  const Verifier& verifier;
  MessageBus& bus;
  FleetTopics topics;
  std::function<void(Message)> publish;  ///< retained messages, in their time
  /// Whether this gateway can train that model: its runtime, its own samples, its limits.
  std::function<Status(const std::filesystem::path& package)> try_model;
  const Clock& clock;
  LogSink& log;
};

/// Follows the orders of the fleet's owner: fetches the package, tries it, waits for its canaries, and says
/// when the gateway shall change over. Whatever fails on the way, the fleet goes on with the model it has. It
/// keeps everything in its folder, so that a restart goes on where it was. One thread.
class RolloutDesk final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RolloutDesk(RolloutParts parts);

  /// Subscribes, and takes up the order that an earlier run was busy with.
  [[nodiscard]] Status start();
  void on_connected();
  /// The next connection may be to a broker that keeps nothing. What it keeps comes before on_connected().
  void on_disconnected() { broker_has_ = 0; }
  /// A message of a topic under release/, or a canary's report. `name` is what the topic names.
  void take(TopicKind kind, const std::string& name, const Message& message);
  /// Does what is due.
  void tick(Time now);
  /// The gateway shall end, store this choice, and start again with it.
  [[nodiscard]] const std::optional<ChosenModel>& chosen() const { return chosen_; }
  [[nodiscard]] const RolloutStatus& status() const { return status_; }

 private:
  void take_order(const Bytes& envelope);
  void take_piece(const std::string& name, const Bytes& piece);
  void take_trial(const std::string& device, const Bytes& envelope);
  [[nodiscard]] Admitted<TrialReport> open_trial(const std::string& device, const Bytes& envelope) const;
  void begin(ReleaseMessage order, const Bytes& envelope);
  void unpack();
  void look_at_canaries();
  void choose();
  void fail(const std::string& why);
  void set_stage(RolloutStage stage, const std::string& message);
  void publish_again(Time now);
  [[nodiscard]] std::filesystem::path order_file() const { return parts_.folder / "order.cose"; }
  [[nodiscard]] std::filesystem::path failure_file() const { return parts_.folder / "order.failed"; }
  [[nodiscard]] std::filesystem::path package_folder() const;
  [[nodiscard]] std::filesystem::path archive_file() const;

  RolloutParts parts_;
  EnvelopeOpener release_opener_;
  EnvelopeOpener device_opener_;
  std::optional<ReleaseMessage> order_;
  Bytes envelope_;  ///< of the order
  std::optional<PackageDownload> download_;
  std::map<std::string, TrialReport> trials_;
  std::optional<ChosenModel> chosen_;
  RolloutStatus status_;
  bool status_changed_ = true;
  Time next_download_{};

  // A broker that lost what it kept gets it from the gateway again.
  std::optional<Time> look_for_order_at_;
  std::uint64_t broker_has_ = 0;  ///< number of the order that the broker keeps
  std::size_t next_piece_ = SIZE_MAX;
  Bytes archive_;  ///< while it is published again
};

}  // namespace aflguard::gateway
