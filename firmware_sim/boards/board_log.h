#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

#include "core/base/result.h"

namespace aflguard::sim {

/// A verdict as the board got it.
struct KnownVerdict {
  bool accepted = false;
  std::uint64_t version = 0;  ///< of the model that the board was told of

  friend bool operator==(const KnownVerdict&, const KnownVerdict&) = default;
};

/// What a board's own facts say (core/telemetry/program_facts.h).
struct BoardLog {
  std::map<std::uint64_t, KnownVerdict> verdicts;  ///< by sequence number
  std::size_t starts = 0;                          ///< how often it was plugged in
  bool connected = false;                          ///< since it was plugged in last

  [[nodiscard]] std::size_t accepted() const;
  [[nodiscard]] std::size_t rejected() const { return verdicts.size() - accepted(); }
};

/// A board that is killed may leave half a line. This ends it, marks it as cut (so that no fact is read from
/// it), and says that the board is
/// plugged in; it is written to a board's log before every start.
inline constexpr std::string_view kPluggedIn = " <cut>\n-- plugged in\n";

[[nodiscard]] BoardLog parse_board_log(std::string_view text);
/// The log in that file; empty when there is none.
[[nodiscard]] Result<BoardLog> read_board_log(const std::filesystem::path& file);

}  // namespace aflguard::sim
