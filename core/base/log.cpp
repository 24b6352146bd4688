#include "core/base/log.h"

#include <cstdio>
#include <string>

namespace aflguard {

void StderrLog::write(LogLevel level, std::string_view line) {
  if (level < threshold_) return;
  static constexpr std::string_view kNames[] = {"debug", "info", "warning", "error"};
  std::string text(kNames[static_cast<std::size_t>(level)]);
  text += ": ";
  text += line;
  text += '\n';
  // One call per line: stdio locks the stream, so lines of several threads do not mix.
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void StderrLog::fact(std::string_view line) {
  if (LogLevel::kInfo < threshold_) return;
  std::string text(line);
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace aflguard
