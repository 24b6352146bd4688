#include "gateway_server/intake/answer_budget.h"

#include "core/identity/name_hash.h"

namespace aflguard::gateway {

bool AnswerBudget::take(std::string_view device, Time now) {
  if (answered_.empty()) answered_.resize(limits_.places);
  const std::uint64_t name = name_hash(device) | 1U;
  Answered& last = answered_[(name >> 1) % limits_.places];
  const bool soon = last.device == name && now - last.when < limits_.between;
  if (soon || !all_.take(now)) {
    ++unanswered_;
    return false;
  }
  last = {name, now};
  return true;
}

}  // namespace aflguard::gateway
