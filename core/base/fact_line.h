#pragma once

#include <string_view>

namespace aflguard {

/// How a fact begins that a program states for other programs, in a line of its log. core/telemetry writes
/// and reads facts; what shows logs to people leaves such lines out.
inline constexpr std::string_view kFactBegin = R"({"schema":"aflguard.)";

/// True when a fact is in the line, behind whatever a journal or a console has put before it.
[[nodiscard]] constexpr bool has_fact(std::string_view line) {
  return line.find(kFactBegin) != std::string_view::npos;
}

}  // namespace aflguard
