#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace aflguard::bench {

/// One measured figure: the median of its repetitions, beside a baseline measured in the same run.
struct BenchResult {
  std::string name;
  double value = 0;
  std::string unit;
  double spread = 0;  ///< half the distance between the quartiles, in the same unit

  std::string baseline_name;             ///< empty: this figure has none
  std::optional<double> baseline_value;  ///< missing: the baseline could not be measured, see `no_baseline`
  std::string no_baseline;               ///< why, e.g. "PyTorch is not installed"
  nlohmann::ordered_json conditions = nlohmann::ordered_json::object();  ///< sizes, repetitions, threads, ...
  std::string aim{};      ///< what the figure should be, in words; empty: nothing
  bool holds = true;      ///< whether it is
  std::string missing{};  ///< why there is no value at all, e.g. "needs root"; empty where there is one

  /// Ours divided by the baseline; missing where there is no baseline.
  [[nodiscard]] std::optional<double> ratio() const;
};

/// Median and spread of repeated measurements (at least one).
struct Repetitions {
  double median = 0;
  double spread = 0;  ///< half the interquartile range
};
[[nodiscard]] Repetitions summarise(std::vector<double> measurements);

/// Machine and build, and the load of the moment.
[[nodiscard]] nlohmann::ordered_json bench_context();

/// {schema, benchmark, context, results: [{name, value, unit, spread, baseline, ratio, conditions}]}
[[nodiscard]] nlohmann::ordered_json bench_document(const std::string& benchmark,
                                                    const std::vector<BenchResult>& results);

/// kUnavailable, with their names, when figures miss their aim.
[[nodiscard]] Status aims_hold(const std::vector<BenchResult>& results);

/// One line per figure, for people.
[[nodiscard]] std::string bench_table(const std::vector<BenchResult>& results);

}  // namespace aflguard::bench
