#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/fair_queue.h"
#include "core/encoding/encoding.h"
#include "core/envelope/envelope.h"
#include "gateway_server/intake/refused_update.h"
#include "gateway_server/intake/verified_update.h"

namespace aflguard::gateway {

/// What an update must fit.
struct UpdateRules {
  std::string fleet;
  ModelHash model_hash{};
  std::size_t dimension = 0;
  std::size_t max_envelope_bytes = kDefaultMaxEnvelopeBytes;
  EncodingSet taken = EncodingSet::all();
  std::function<bool(std::string_view device)> is_paused = {};  ///< empty: none is
};

/// An envelope whose pieces are all here. Everything about it is a claim.
struct ReceivedEnvelope {
  std::string sender;  ///< device named in the topic
  Bytes bytes;
  UpdateQuota::Place place = nullptr;  ///< filled by the pool
};

/// What was found out about an envelope before it was refused.
struct EnvelopeFindings {
  bool proven = false;         ///< the signature is of the device whose topic it came on
  std::uint64_t sequence = 0;  ///< 0: not read
};

/// Opens one envelope: shape, signature, sender, fleet, model, numbers. Thread-safe.
[[nodiscard]] Admitted<VerifiedUpdate> verify_update(ReceivedEnvelope envelope, const EnvelopeOpener& opener,
                                                     const UpdateRules& rules,
                                                     EnvelopeFindings* findings = nullptr);

/// Threads that verify envelopes from a bounded queue, one of each device in turn, and hand on the genuine
/// ones.
class VerificationPool final {
 public:
  struct Limits {
    std::size_t waiting_updates = SIZE_MAX;
    std::size_t waiting_bytes = SIZE_MAX;
    std::size_t device_updates = 2;  ///< of one device, until they are judged
  };

  struct Outputs {
    std::function<bool(VerifiedUpdate)> genuine;  ///< false means that it is full
    std::function<void(RefusedUpdate)> refused;
  };

  /// `opener` is borrowed. The outputs are called by the workers, and by who submits.
  VerificationPool(std::size_t workers, const Limits& limits, const EnvelopeOpener& opener, UpdateRules rules,
                   Outputs outputs);
  ~VerificationPool();

  /// Refuses as overloaded when the queue is full, or this device's part of it.
  void submit(ReceivedEnvelope envelope);
  void set_device_updates(std::size_t device_updates) { places_.set_limit(device_updates); }
  /// Finishes what waits, takes nothing more, and joins the workers.
  void stop();
  [[nodiscard]] std::size_t waiting() const { return queue_.size(); }
  /// What an update in an envelope of that size holds at most, here or decoded.
  [[nodiscard]] std::size_t most_bytes(std::size_t envelope_bytes) const {
    return std::max(envelope_bytes, rules_.dimension * sizeof(float));
  }
  /// Updates that are here or were handed on, until they are judged, and the most that they hold.
  [[nodiscard]] std::size_t inside() const { return places_.updates(); }
  [[nodiscard]] std::size_t inside_bytes() const { return places_.bytes(); }

 private:
  void work();
  void refuse_overload(RefusedUpdate refused, const std::string& whose);

  const EnvelopeOpener& opener_;
  const UpdateRules rules_;
  const Outputs outputs_;
  UpdateQuota places_;
  FairQueue<ReceivedEnvelope> queue_;
  std::vector<std::thread> workers_;
};

}  // namespace aflguard::gateway
