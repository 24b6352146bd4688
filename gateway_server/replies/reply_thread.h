#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <variant>

#include "core/base/bounded_queue.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/rate_budget.h"
#include "gateway_server/judging/gateway_counters.h"
#include "gateway_server/replies/reply_signer.h"

namespace aflguard::gateway {

/// Signs answers and models on a separate thread, and hands the envelopes on.
class ReplyThread final {
 public:
  struct Outputs {
    std::function<void(const std::string& device, Bytes envelope)> verdict;  ///< or a refusal
    std::function<void(Bytes envelope)> model;                               ///< for the retained topic
    /// False while too much waits to be sent: verdicts are short then, and devices fetch the retained model.
    std::function<bool()> room_for_models = [] { return true; };
  };

  ReplyThread(ReplySigner& signer, double models_per_second, Outputs outputs, GatewayCounters& counters,
              const Clock& clock, LogSink& log);
  ~ReplyThread();

  /// The model that verdicts carry from now on. From any thread.
  void set_model(SharedModel model);
  [[nodiscard]] SharedModel model() const;
  void reply(VerdictMessage verdict);
  /// Verdicts go before it: it is dropped when very many wait.
  void refuse(RefusalMessage refusal);
  /// Signs the newest model for the retained topic.
  void publish_model();
  /// Signs what waits, then ends.
  void stop();

 private:
  struct PublishModel {};
  using Job = std::variant<VerdictMessage, RefusalMessage, PublishModel>;
  void run();
  void handle(VerdictMessage verdict);
  void handle(const RefusalMessage& refusal);
  void handle(PublishModel);

  ReplySigner& signer_;
  RateBudget budget_;
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
