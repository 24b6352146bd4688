#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <variant>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/rate_budget.h"
#include "gateway_server/judging/gateway_counters.h"
#include "gateway_server/replies/known_bases.h"
#include "gateway_server/replies/model_publisher.h"
#include "gateway_server/replies/reply_signer.h"
#include "gateway_server/replies/sent_models.h"

namespace aflguard::gateway {

/// Signs answers and models on a separate thread, and hands the envelopes on.
class ReplyThread final {
 public:
  struct Outputs {
    /// A verdict, a refusal or an offer. `before`, where it is not empty, is an envelope that goes to the
    /// device first.
    std::function<void(const std::string& device, Bytes envelope, Bytes before)> verdict;
    std::function<void(Bytes envelope)> model;  ///< for the retained topic
    /// False while too much waits to be sent: verdicts are short then, and devices fetch the retained model.
    std::function<bool()> room_for_models = [] { return true; };
    /// Blocks while as much waits to be sent as may: what is not signed yet costs little.
    std::function<void()> wait_for_room = [] {};
    /// When a device that understands it should send its next update.
    std::function<std::chrono::milliseconds(const std::string& device)> next_turn = [](const std::string&) {
      return std::chrono::milliseconds::zero();
    };
  };

  struct Limits {
    double models_per_second = 100;
    std::size_t history_bytes = 64u << 20;  ///< of versions that differences are made from
    bool grid = false;                      ///< models are rounded to a grid for devices
  };

  ReplyThread(ReplySigner& signer, const Limits& limits, Outputs outputs, GatewayCounters& counters,
              const Clock& clock, LogSink& log);
  ~ReplyThread();

  /// The model that verdicts carry from now on. From any thread.
  void set_model(SharedModel model);
  [[nodiscard]] SharedModel model() const;
  void reply(VerdictMessage verdict);
  /// Models carry `terms` from now on, so many of them in a second. From any thread.
  void change(ModelMessage terms, double models_per_second);
  /// Verdicts go before it: it is dropped when very many wait.
  void refuse(RefusalMessage refusal);
  /// An update in format 2 has come, computed on `version`: its answer may carry a difference. From any
  /// thread.
  void note_base(const std::string& device, std::uint64_t sequence, std::uint64_t version) {
    bases_.note(device, sequence, version);
  }
  /// Tells a device what this gateway takes beside format 1.
  void offer(std::string device);
  /// Signs the newest model for the retained topic.
  void publish_model();
  /// Signs what waits, then ends.
  void stop();

 private:
  struct PublishModel {};
  struct Offer {
    std::string device;
  };
  struct Change {
    ModelMessage terms;
    double models_per_second = 0;
  };
  using Job = std::variant<VerdictMessage, RefusalMessage, PublishModel, Offer, Change>;
  void run();
  void handle(VerdictMessage verdict);
  void handle(const RefusalMessage& refusal);
  void handle(PublishModel);
  /// The newest model as devices get it.
  [[nodiscard]] SharedModel newest();
  [[nodiscard]] Bytes difference(std::uint64_t base, const ModelSnapshot& newest);
  [[nodiscard]] Bytes whole(const SharedModel& newest);
  void handle(const Offer& offer);
  void handle(Change change);

  ReplySigner& signer_;
  const std::size_t history_bytes_;
  RateBudget budget_;
  KnownBases bases_;
  SentModels sent_;
  struct WholeModel {
    SharedModel model;
    Bytes envelope;
  };
  WholeModel whole_;                         ///< the latest that was signed
  std::optional<ModelPublisher> publisher_;  ///< none: models go out as they are
  const Outputs outputs_;
  GatewayCounters& counters_;
  const Clock& clock_;
  LogSink& log_;
  BoundedQueue<Job> queue_;
  mutable std::mutex mutex_;
  SharedModel model_;
  std::thread thread_;
};

}  // namespace aflguard::gateway
