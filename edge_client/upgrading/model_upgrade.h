#pragma once

#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/envelope/envelope.h"
#include "core/envelope/membership.h"
#include "core/release/package_download.h"
#include "core/release/release_message.h"
#include "core/release/trial_report.h"
#include "core/transport/message_bus.h"
#include "core/transport/topics.h"
#include "edge_client/upgrading/model_shelf.h"

namespace aflguard::edge {

/// What an upgrade is made from; references are borrowed.
struct UpgradeParts {
  Membership membership;          ///< the model that this device trains now
  const DeviceRegistry& release;  ///< holds the release keys only
  bool has_release_keys = false;
  const Verifier& verifier;
  MessageBus& bus;
  FleetTopics topics;
  ModelShelf& shelf;
  /// Whether this device can train that package on its samples: one training step from the parameters that
  /// the fleet starts it with. A text for people.
  std::function<Result<std::string>(const std::filesystem::path& package)> try_model;
  const Clock& clock;
  LogSink& log;
};

/// Brings a device to the model that its fleet trains. The release key says which models there may be, the
/// gateway which of them is trained: both must agree before a device changes over. It fetches the package,
/// tries it, and reports on it when it is a canary. Whatever fails on the way, the device goes on with the
/// model that it has. One thread.
class ModelUpgrade final {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit ModelUpgrade(UpgradeParts parts);

  [[nodiscard]] Status start();
  void on_connected() { report_published_ = false; }
  /// A message of a topic under release/. `name` is what the topic names.
  void take(TopicKind kind, const std::string& name, const Message& message);
  /// The gateway says, signed, which model the fleet trains.
  void fleet_trains(const ModelHash& hash);
  /// An update under the model in use was judged.
  void judged() { parts_.shelf.settle(); }
  /// Does what is due; when to call again.
  [[nodiscard]] Time step(Time now);

  /// A report that the broker has not been given on this connection; it is to be signed and published.
  [[nodiscard]] const TrialReport* report_due() const {
    return report_ && !report_published_ ? &*report_ : nullptr;
  }
  void report_published() { report_published_ = true; }
  /// The program shall start again: with the package that the shelf has chosen.
  [[nodiscard]] bool switch_due() const { return switch_due_; }
  /// What the status says of it; empty when the device has the fleet's model.
  [[nodiscard]] const std::string& progress() const { return progress_; }
  /// Why this device cannot have the fleet's model; empty when that is not so.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Number of the model in use, where it is known.
  [[nodiscard]] std::optional<std::uint64_t> model_number() const;

 private:
  void take_order(const Bytes& envelope);
  void look();
  [[nodiscard]] bool is_canary() const;
  [[nodiscard]] bool wanted_now() const;
  [[nodiscard]] bool trial_wanted() const;
  void fetch();
  void unpack();
  void try_package();
  void fail(const std::string& why);

  UpgradeParts parts_;
  EnvelopeOpener opener_;
  std::optional<ReleaseMessage> order_;
  std::optional<ModelHash> fleet_model_;
  std::optional<PackageDownload> download_;
  Time next_download_{};
  Time fetch_again_{};
  bool package_here_ = false;  ///< of order_: whole, checked, on the shelf
  bool tried_ = false;         ///< package of order_
  bool works_ = false;
  std::optional<TrialReport> report_;
  bool report_published_ = false;
  bool switch_due_ = false;
  std::string progress_;
  std::string problem_;
};

}  // namespace aflguard::edge
