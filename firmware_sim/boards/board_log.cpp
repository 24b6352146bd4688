#include "firmware_sim/boards/board_log.h"

#include <algorithm>

#include "core/system/atomic_file.h"
#include "core/telemetry/program_facts.h"

namespace aflguard::sim {
namespace {

void take(const ProgramFact& fact, BoardLog& log) {
  if (std::holds_alternative<ReadyFact>(fact)) {
    log.connected = true;
  } else if (const auto* verdict = std::get_if<VerdictFact>(&fact)) {
    log.verdicts.emplace(verdict->sequence, KnownVerdict{verdict->accepted, verdict->version});
  }
}

void read_line(std::string_view line, BoardLog& log) {
  if (line == "-- plugged in") {
    ++log.starts;
    log.connected = false;
  } else if (const auto fact = read_fact(line)) {
    take(*fact, log);
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
