#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/telemetry/telemetry_limits.h"
#include "core/telemetry/wall_time.h"

namespace aflguard {

/// For the readers of this room: every question has an answer, whatever the message holds.
using ReadJson = nlohmann::json;

/// An object of that schema; none for anything else.
[[nodiscard]] std::optional<ReadJson> parse_message(std::string_view text, std::string_view schema);

/// Null where there is none.
[[nodiscard]] const ReadJson* find_field(const ReadJson& json, const char* key);

/// Values of the right kind; none, or an empty text, for others.
[[nodiscard]] std::optional<double> as_number(const ReadJson* json);
[[nodiscard]] std::optional<std::uint64_t> as_count(const ReadJson* json);
[[nodiscard]] std::optional<WallTime> as_milliseconds(const ReadJson* json);
[[nodiscard]] std::optional<double> number_field(const ReadJson& json, const char* key);
[[nodiscard]] std::optional<std::uint64_t> count_field(const ReadJson& json, const char* key);
[[nodiscard]] bool true_field(const ReadJson& json, const char* key);
/// Made harmless for a terminal.
[[nodiscard]] std::string text_field(const ReadJson& json, const char* key, std::size_t limit = kMaxReadText);
[[nodiscard]] std::optional<WallTime> time_field(const ReadJson& json, const char* key);

}  // namespace aflguard
