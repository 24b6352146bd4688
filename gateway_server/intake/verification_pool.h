#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/bounded_queue.h"
#include "core/encoding/encoding.h"
#include "core/envelope/envelope.h"
#include "gateway_server/intake/refusal_log.h"
#include "gateway_server/intake/verified_update.h"

namespace aflguard::gateway {

/// What an update must fit.
struct UpdateRules {
  std::string fleet;
  ModelHash model_hash{};
  std::size_t dimension = 0;
  std::size_t max_envelope_bytes = kDefaultMaxEnvelopeBytes;
  EncodingSet taken = EncodingSet::all();
};

/// An envelope whose pieces are all here. Everything about it is a claim.
struct ReceivedEnvelope {
  std::string sender;  ///< device named in the topic
  Bytes bytes;
  UpdateQuota::Place place = nullptr;  ///< filled by the pool
};

/// Opens one envelope: shape, signature, sender, fleet, model, numbers. Thread-safe.
[[nodiscard]] Admitted<VerifiedUpdate> verify_update(ReceivedEnvelope envelope, const EnvelopeOpener& opener,
                                                     const UpdateRules& rules);

/// Threads that verify envelopes from a bounded queue and hand on the genuine ones.
class VerificationPool final {
 public:
  struct Limits {
    std::size_t waiting_updates = 64;
    std::size_t waiting_bytes = 128u << 20;
    std::size_t device_updates = 2;  ///< of one device, until they are judged
  };

  /// `opener` and `refusals` are borrowed. The workers call `hand_on`; false means that it is full.
  VerificationPool(std::size_t workers, const Limits& limits, const EnvelopeOpener& opener, UpdateRules rules,
                   RefusalLog& refusals, std::function<bool(VerifiedUpdate)> hand_on);
  ~VerificationPool();

  /// Refuses as overloaded when the queue is full, or this device's part of it.
  void submit(ReceivedEnvelope envelope);
  /// Finishes what waits, takes nothing more, and joins the workers.
  void stop();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }

 private:
  void work();
  void note_overload(const std::string& sender, const std::string& whose);

  const EnvelopeOpener& opener_;
  const UpdateRules rules_;
  RefusalLog& refusals_;
  const std::function<bool(VerifiedUpdate)> hand_on_;
  UpdateQuota places_;
  BoundedQueue<ReceivedEnvelope> queue_;
  std::vector<std::thread> workers_;
};

}  // namespace aflguard::gateway
