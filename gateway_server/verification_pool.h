#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/envelope/envelope.h"
#include "gateway_server/refusal_ledger.h"
#include "gateway_server/update_judge.h"

namespace aflguard {

/// What an update must fit.
struct UpdateRules {
  std::string fleet;
  ModelHash model_hash{};
  std::size_t dimension = 0;
  std::size_t max_envelope_bytes = kDefaultMaxEnvelopeBytes;
};

/// An envelope whose pieces are all here. Everything about it is a claim.
struct ReceivedEnvelope {
  std::string sender;  ///< device named in the topic
  Bytes bytes;
};

/// Opens one envelope: shape, signature, sender, fleet, model, numbers. Thread-safe.
[[nodiscard]] Admitted<VerifiedUpdate> verify_update(ReceivedEnvelope envelope, const EnvelopeOpener& opener,
                                                     const UpdateRules& rules);

/// Threads that verify envelopes from a bounded queue, and hand on what is genuine.
class VerificationPool final {
 public:
  /// `opener` and `ledger` are borrowed. `hand_on` is called by the workers; false means that it is full.
  VerificationPool(std::size_t workers, std::size_t max_waiting, std::size_t max_waiting_bytes,
                   const EnvelopeOpener& opener, UpdateRules rules, RefusalLedger& ledger,
                   std::function<bool(VerifiedUpdate)> hand_on);
  ~VerificationPool();

  /// Refuses as overloaded when the queue is full.
  void submit(ReceivedEnvelope envelope);
  /// Finishes what waits, takes nothing more, and joins the workers.
  void stop();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

 private:
  void work();
  void note_overload(const std::string& sender);

  const EnvelopeOpener& opener_;
  const UpdateRules rules_;
  RefusalLedger& ledger_;
  const std::function<bool(VerifiedUpdate)> hand_on_;
  BoundedQueue<ReceivedEnvelope> queue_;
  std::vector<std::thread> workers_;
};

}  // namespace aflguard
