#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/telemetry/telemetry_limits.h"

namespace aflguard {

/// ask/<viewer>/history: a viewer's question about the past.
struct HistoryQuestion {
  std::string id;      ///< at most kMaxQuestionId bytes; the answer names it
  std::string device;  ///< empty: the whole fleet
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;   ///< above from_ms
  std::int64_t points = 0;  ///< at most kMaxHistoryPoints
};

[[nodiscard]] std::string to_json(const HistoryQuestion& question);

/// What was read of a question. `id` is what the answer names, also when the rest is wrong.
struct ReadQuestion {
  std::string id;
  Result<HistoryQuestion> question;
};
/// kInvalidInput that names the field, its value's limit and what to do.
[[nodiscard]] ReadQuestion read_history_question(std::span<const std::byte> payload);

}  // namespace aflguard
