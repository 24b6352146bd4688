#include "gateway_server/alerts/alert_book.h"

#include <algorithm>

namespace aflguard::gateway {

void AlertBook::set(std::string_view kind, std::string_view device, std::string text, Time now,
                    std::chrono::steady_clock::duration lasting) {
  const std::pair<std::string, std::string> key{kind, device};
  const auto known = problems_.find(key);
  if (known == problems_.end()) {
    if (problems_.size() < kMostProblems) problems_.emplace(key, Problem{std::move(text), now + lasting});
    return;
  }
  Problem& problem = known->second;
  problem.over = false;  // it came back before its end was told
  if (!problem.told) problem.text = std::move(text);
}

void AlertBook::clear(std::string_view kind, std::string_view device) {
  const auto known = problems_.find({std::string(kind), std::string(device)});
  if (known == problems_.end()) return;
  if (known->second.told) {
    known->second.over = true;
  } else {
    problems_.erase(known);
  }
}

void AlertBook::forget(std::string_view device) {
  std::erase_if(problems_, [device](const auto& problem) { return problem.first.second == device; });
}

std::optional<AlertBook::Told> AlertBook::next(Time now) {
  for (auto problem = problems_.begin(); problem != problems_.end(); ++problem) {
    Problem& what = problem->second;
    const bool due = what.told ? what.over : now >= what.due;
    if (!due) continue;
    if (!take_token(now)) return std::nullopt;
    Told told{problem->first.first, problem->first.second, what.text, what.over};
    if (what.over) {
      problems_.erase(problem);
    } else {
      what.told = true;
    }
    return told;
  }
  return std::nullopt;
}

bool AlertBook::take_token(Time now) {
  if (refilled_ == Time{}) refilled_ = now;
  const std::chrono::duration<double, std::ratio<3600>> hours(now - refilled_);
  tokens_ = std::min(per_hour_, tokens_ + hours.count() * per_hour_);
  refilled_ = now;
  if (tokens_ < 1) return false;
  tokens_ -= 1;
  return true;
}

}  // namespace aflguard::gateway
