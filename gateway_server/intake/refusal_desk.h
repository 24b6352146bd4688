#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "core/envelope/refusal_message.h"
#include "gateway_server/intake/answer_budget.h"
#include "gateway_server/intake/refusal_log.h"
#include "gateway_server/intake/refused_update.h"
#include "gateway_server/intake/waiting_line.h"

namespace aflguard::gateway {

/// Where every refused update goes: it is counted, logged, and answered with the reason and, where the
/// gateway has no room now, with the time to come back. Safe from several threads.
class RefusalDesk final {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Answer = std::function<void(RefusalMessage)>;

  /// `log` is borrowed. `answer` signs and sends; it is called under the desk's lock and returns quickly.
  RefusalDesk(std::string fleet, RefusalLog& log, Answer answer, const AnswerBudget::Limits& budget = {})
      : fleet_(std::move(fleet)), log_(log), answer_(std::move(answer)), answers_(budget) {}

  /// `inside`: updates that the gateway has already.
  void refuse(const RefusedUpdate& refused, std::size_t inside, Time now);

  /// How many updates have been served so far: gives the pace at which those who wait outside are asked in.
  void measure(std::uint64_t served, Time now);
  /// Devices wait outside and this one's time has not come: it leaves some room for them.
  [[nodiscard]] bool comes_after_others(std::string_view device, Time now);
  /// This device has found room.
  void let_in(std::string_view device);

 private:
  const std::string fleet_;
  RefusalLog& log_;
  const Answer answer_;
  std::mutex mutex_;
  AnswerBudget answers_;
  WaitingLine line_;
};

}  // namespace aflguard::gateway
