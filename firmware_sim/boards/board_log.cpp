#include "firmware_sim/boards/board_log.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/system/atomic_file.h"

namespace aflguard::sim {
namespace {

/// Takes a number off the front.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

/// "[   41.204117] aflguard-client[312]: " is what a board's journal puts before the client's words on its
/// console; the time may be missing.
void skip_journal_mark(std::string_view& line) {
  std::string_view rest = line;
  if (rest.starts_with('[')) {
    const auto end = rest.find("] ");
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 2);
  }
  if (!take(rest, "aflguard-client[") && !take(rest, "aflguard-byzantine-client[")) return;
  if (take_number(rest) && take(rest, "]: ")) line = rest;
}

/// "verdict 7: accepted, version 12, delay 3", "verdict 8: rejected (too-far: 1 over 2), version 12, ..."
void read_verdict(std::string_view line, BoardLog& log) {
  const auto sequence = take_number(line);
  if (!sequence || !take(line, ": ")) return;
  const bool accepted = line.starts_with("accepted");
  if (!accepted && !line.starts_with("rejected")) return;
  constexpr std::string_view kVersion = ", version ";
  const auto at = line.find(kVersion);
  if (at == std::string_view::npos) return;
  line.remove_prefix(at + kVersion.size());
  const auto version = take_number(line);
  if (!version || !line.starts_with(", ")) return;
  log.verdicts.emplace(*sequence, KnownVerdict{accepted, *version});
}

void read_line(std::string_view line, BoardLog& log) {
  if (line.ends_with('\r')) line.remove_suffix(1);  // a serial console's way to end lines
  if (line.ends_with("<cut>")) return;
  skip_journal_mark(line);
  if (line == "-- plugged in") {
    ++log.starts;
    log.connected = false;
  } else if (take(line, "info: verdict ")) {
    read_verdict(line, log);
  } else if (line.starts_with("info: connected by ")) {
    log.connected = true;
  }
}

}  // namespace

std::size_t BoardLog::accepted() const {
  return static_cast<std::size_t>(std::count_if(verdicts.begin(), verdicts.end(),
                                                [](const auto& entry) { return entry.second.accepted; }));
}

BoardLog parse_board_log(std::string_view text) {
  BoardLog log;
  while (true) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return log;  // the last line may still grow
    read_line(text.substr(0, end), log);
    text.remove_prefix(end + 1);
  }
}

Result<BoardLog> read_board_log(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return BoardLog{};
  TRY(const std::string text, read_text_file(file));
  return parse_board_log(text);
}

}  // namespace aflguard::sim
