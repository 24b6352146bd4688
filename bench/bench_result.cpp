#include "bench/bench_result.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/base/check.h"
#include "core/system/machine/machine_context.h"

namespace aflguard::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Linear interpolation between the two nearest of the sorted values.
double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Json to_json(const BenchResult& result) {
  Json json;
  json["name"] = result.name;
  json["value"] = result.missing.empty() ? Json(result.value) : Json(nullptr);
  if (!result.missing.empty()) json["missing_because"] = result.missing;
  json["unit"] = result.unit;
  json["spread"] = result.spread;
  if (result.baseline_name.empty()) {
    json["baseline"] = nullptr;
  } else {
    json["baseline"] = {{"name", result.baseline_name}};
    json["baseline"]["value"] = result.baseline_value ? Json(*result.baseline_value) : Json(nullptr);
  }
  json["ratio"] = result.ratio() ? Json(*result.ratio()) : Json(nullptr);
  if (!result.no_baseline.empty()) json["ratio_missing_because"] = result.no_baseline;
  if (!result.aim.empty()) json["aim"] = {{"text", result.aim}, {"holds", result.holds}};
  json["conditions"] = result.conditions;
  return json;
}

}  // namespace

std::optional<double> BenchResult::ratio() const {
  if (!baseline_value || *baseline_value <= 0 || !missing.empty()) return std::nullopt;
  return value / *baseline_value;
}

Repetitions summarise(std::vector<double> measurements) {
  check(!measurements.empty(), "a figure needs at least one measurement");
  std::sort(measurements.begin(), measurements.end());
  return {quantile(measurements, 0.5), (quantile(measurements, 0.75) - quantile(measurements, 0.25)) / 2};
}

Json bench_context() {
  double load = 0;
  (void)::getloadavg(&load, 1);
  Json context = machine_context();
  context["load_average"] = load;
  return context;
}

Json bench_document(const std::string& benchmark, const std::vector<BenchResult>& results) {
  Json document;
  document["schema"] = "aflguard.bench/1";
  document["benchmark"] = benchmark;
  document["context"] = bench_context();
  document["results"] = Json::array();
  for (const BenchResult& result : results) document["results"].push_back(to_json(result));
  return document;
}

Status aims_hold(const std::vector<BenchResult>& results) {
  std::string missed;
  for (const BenchResult& result : results) {
    if (!result.holds) missed += (missed.empty() ? "" : ", ") + result.name;
  }
  return missed.empty() ? Status() : unavailable("the aim was missed by " + missed);
}

std::string bench_table(const std::vector<BenchResult>& results) {
  std::string table;
  char line[256];
  for (const BenchResult& result : results) {
    if (!result.missing.empty()) {
      table += result.name + " was not measured: " + result.missing + "\n";
      continue;
    }
    std::snprintf(line, sizeof line, "%-32s %12.2f %-5s +- %-9.2f", result.name.c_str(), result.value,
                  result.unit.c_str(), result.spread);
    table += line;
    if (result.ratio()) {
      std::snprintf(line, sizeof line, " %6.3f x %.2f (%s)", *result.ratio(), *result.baseline_value,
                    result.baseline_name.c_str());
      table += line;
    } else if (!result.no_baseline.empty()) {
      table += " no ratio: " + result.no_baseline;
    }
    if (!result.aim.empty()) table += (result.holds ? "  pass: " : "  FAIL: ") + result.aim;
    table += "\n";
  }
  return table;
}

}  // namespace aflguard::bench
