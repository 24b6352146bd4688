#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/telemetry/wall_time.h"

namespace aflguard {

/// For the writers of this room: fields in the order of docs/topics.md.
using OrderedJson = nlohmann::ordered_json;

/// In one line. Text from outside (an operating system's error, a name) need not be UTF-8; JSON must.
[[nodiscard]] std::string json_text(const OrderedJson& json);

template <typename T>
[[nodiscard]] OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson();
}
[[nodiscard]] OrderedJson time_or_null(const std::optional<WallTime>& time);

/// A number in five digits, which are enough to look at; null when it is not finite or not known.
[[nodiscard]] OrderedJson short_number(const std::optional<double>& number);

/// To so many decimals.
[[nodiscard]] double rounded(double number, int decimals);

}  // namespace aflguard
