#pragma once

#include <cstdint>
#include <string>

#include "core/envelope/messages.h"
#include "core/verdict/refusal.h"
#include "gateway_server/judging/judged_update.h"
#include "gateway_server/judging/model_snapshot.h"

namespace aflguard::gateway {

/// What the judging hands on. Every call comes from the judging thread, or from the one that starts it, and
/// returns quickly.
class JudgeListener {
 public:
  virtual ~JudgeListener() = default;

  /// A verdict is durable.
  virtual void on_judged(JudgedUpdate update) = 0;
  /// A durable model of a new version.
  virtual void on_model(SharedModel model) = 0;
  /// An answer for a device, after everything in it is durable.
  virtual void on_reply(VerdictMessage reply) = 0;
  /// An update was not judged because its number is too old.
  virtual void on_refused(const std::string& device, const Refusal& refusal) = 0;
  /// A reference at this model is due since this iteration. None is asked for again until
  /// JudgeThread::submit(ReferenceReady).
  virtual void on_reference_due(SharedModel model, std::uint64_t due_since) = 0;
};

}  // namespace aflguard::gateway
