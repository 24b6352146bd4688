#include "gateway_server/telemetry/learning_watch.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace aflguard::gateway {
namespace {

// A test error scatters by a few hundredths from one evaluation to the next.
constexpr double kErrorFactor = 1.25;
constexpr double kErrorMore = 0.05;
// Boards' samples differ from the trusted ones, so that an honest model may lose a little on these again. A
// model that diverges leaves this behind within some updates.
constexpr double kLossFactor = 2;
constexpr double kLossMore = 0.5;

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

}  // namespace

void RisingSeries::add(double value) {
  latest_.push_back(value);
  if (latest_.size() > kWindow) latest_.pop_front();
  if (latest_.size() == kWindow && std::isfinite(median())) lowest_ = std::min(lowest_, median());
}

double RisingSeries::median() const {
  std::deque<double> sorted = latest_;
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

bool RisingSeries::has_risen() const {
  if (!latest_.empty() && !std::isfinite(latest_.back())) return true;
  return latest_.size() == kWindow && median() > factor_ * lowest_ + more_;
}

LearningWatch::LearningWatch(std::string trusted_set)
    : error_(kErrorFactor, kErrorMore), loss_(kLossFactor, kLossMore) {
  set(kTrustedSet, std::move(trusted_set));
}

bool LearningWatch::follow(const GatewayCounters& counters) {
  bool changed = false;
  if (const std::uint64_t count = counters.evaluations; count != evaluations_) {
    evaluations_ = count;
    error_.add(counters.test_error);
    changed |= set(kRisingError, error_.has_risen() ? "the test error rises: " + number(counters.test_error) +
                                                          " now, at best it was " + number(error_.lowest())
                                                    : "");
  }
  const double loss = counters.reference_loss;
  if (const std::uint64_t count = counters.references; count != references_ && !std::isnan(loss)) {
    references_ = count;
    loss_.add(loss);
    changed |=
        set(kReference, loss_.has_risen() ? "the model diverges: its loss on the trusted samples is " +
                                                number(loss) + ", at best it was " + number(loss_.lowest()) +
                                                "; the guard's comparison means little until [training] "
                                                "learning_rate is lower"
                                          : "");
  }
  return changed;
}

void LearningWatch::start_again() {
  error_ = RisingSeries(kErrorFactor, kErrorMore);
  loss_ = RisingSeries(kLossFactor, kLossMore);
}

bool LearningWatch::set(std::string_view kind, std::string text) {
  const auto known = troubles_.find(kind);
  if (text.empty()) {
    if (known == troubles_.end()) return false;
    troubles_.erase(known);
    return true;
  }
  if (known != troubles_.end()) return false;  // the figures in it may differ; it is the same trouble
  troubles_.emplace(kind, std::move(text));
  return true;
}

}  // namespace aflguard::gateway
