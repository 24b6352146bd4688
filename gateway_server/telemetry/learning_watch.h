#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "gateway_server/judging/gateway_counters.h"

namespace aflguard::gateway {

/// Finds out that a series of measurements has risen far above the lowest that it has had. Medians of a few
/// measurements are compared, so that one outlier says nothing.
class RisingSeries final {
 public:
  /// Risen: above `factor` times the lowest median and `more`.
  RisingSeries(double factor, double more) : factor_(factor), more_(more) {}

  void add(double value);
  /// Also true when the latest measurement is not a number.
  [[nodiscard]] bool has_risen() const;
  [[nodiscard]] double median() const;
  [[nodiscard]] double lowest() const { return lowest_; }

 private:
  static constexpr std::size_t kWindow = 3;
  double factor_;
  double more_;
  std::deque<double> latest_;
  double lowest_ = std::numeric_limits<double>::infinity();
};

/// What is wrong with a fleet's learning, by what its gateway measures. One thread.
class LearningWatch final {
 public:
  /// Kinds of trouble, by which alert rules and metrics name them.
  static constexpr std::string_view kTrustedSet = "trusted-set";
  static constexpr std::string_view kRisingError = "rising-error";
  static constexpr std::string_view kReference = "reference";

  /// `trusted_set`: what is wrong with the trusted samples; empty: nothing.
  explicit LearningWatch(std::string trusted_set);

  /// Takes what was measured since the call before. True when the troubles are others than before.
  bool follow(const GatewayCounters& counters);
  /// Kind and text of each.
  [[nodiscard]] const std::map<std::string_view, std::string>& troubles() const { return troubles_; }
  /// The measurements so far say nothing about those that come: other samples, or another model.
  void start_again();

 private:
  bool set(std::string_view kind, std::string text);

  RisingSeries error_;
  RisingSeries loss_;
  std::uint64_t evaluations_ = 0;
  std::uint64_t references_ = 0;
  std::map<std::string_view, std::string> troubles_;
};

}  // namespace aflguard::gateway
