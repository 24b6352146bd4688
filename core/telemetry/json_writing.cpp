#include "core/telemetry/json_writing.h"

#include <cmath>

#include "core/base/rfc3339.h"

namespace aflguard {

std::string json_text(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson time_or_null(const std::optional<WallTime>& time) {
  return time ? OrderedJson(to_rfc3339(*time)) : OrderedJson();
}

OrderedJson short_number(const std::optional<double>& number) {
  if (!number || !std::isfinite(*number)) return {};
  if (*number == 0) return 0.0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::abs(*number))));
  const double result = std::round(*number * scale) / scale;
  return std::isfinite(result) ? OrderedJson(result) : OrderedJson(*number);
}

double rounded(double number, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(number * scale) / scale;
}

}  // namespace aflguard
