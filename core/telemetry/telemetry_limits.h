#pragma once

#include <cstddef>
#include <cstdint>

namespace aflguard {

/// Every JSON message is below this (docs/topics.md).
inline constexpr std::size_t kMaxTelemetryBytes = 4096;

/// What a writer puts of a text from outside into a message, in bytes; JSON makes six of each control
/// character.
inline constexpr std::size_t kMaxWrittenText = 500;
inline constexpr std::size_t kMaxWrittenError = 300;  ///< beside an id, in an answer about history

/// What a reader keeps.
inline constexpr std::size_t kMaxReadText = 160;
inline constexpr std::size_t kMaxReadName = 40;     ///< of a reason, a guard, a software
inline constexpr std::size_t kMaxReadReasons = 64;  ///< more than any gateway has, like bounds of a histogram

/// Verdicts in a device's summary.
inline constexpr std::size_t kMaxRecentVerdicts = 16;

/// A device of whose recent updates half are rejected is suspicious; fewer verdicts than this say nothing.
inline constexpr double kSuspiciousShare = 0.5;
inline constexpr std::uint64_t kFewestVerdicts = 4;

inline constexpr std::size_t kMaxQuestionBytes = 1024;
inline constexpr std::size_t kMaxQuestionId = 64;
inline constexpr std::int64_t kMaxHistoryPoints = 500;  ///< that a question may ask for

}  // namespace aflguard
