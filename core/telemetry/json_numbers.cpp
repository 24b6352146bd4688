#include "core/telemetry/json_numbers.h"

#include <cmath>

namespace aflguard {

using Json = nlohmann::ordered_json;

Json short_number(double number) {
  if (!std::isfinite(number)) return {};
  if (number == 0) return 0.0;
  const double scale = std::pow(10.0, 4 - std::floor(std::log10(std::abs(number))));
  const double rounded = std::round(number * scale) / scale;
  return std::isfinite(rounded) ? Json(rounded) : Json(number);
}

Json short_number(const std::optional<double>& number) {
  return number ? short_number(*number) : Json();
}

}  // namespace aflguard
