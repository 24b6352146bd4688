#pragma once

#include <cstdint>
#include <string_view>

namespace aflguard {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

/// Where a component reports what it does. Passed in by main(); there is no global logger.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write(LogLevel level, std::string_view line) = 0;

  /// A line that programs read (core/telemetry/program_facts.h), as it is. Of sinks that no program reads,
  /// nothing.
  virtual void fact(std::string_view line) { (void)line; }

  void debug(std::string_view line) { write(LogLevel::kDebug, line); }
  void info(std::string_view line) { write(LogLevel::kInfo, line); }
  void warning(std::string_view line) { write(LogLevel::kWarning, line); }
  void error(std::string_view line) { write(LogLevel::kError, line); }
};

/// One line per call on standard error; lines under `threshold` are dropped. Safe from several threads.
class StderrLog final : public LogSink {
 public:
  explicit StderrLog(LogLevel threshold = LogLevel::kInfo) : threshold_(threshold) {}
  void write(LogLevel level, std::string_view line) override;
  /// Facts are information: a higher threshold drops them, too.
  void fact(std::string_view line) override;

 private:
  LogLevel threshold_;
};

}  // namespace aflguard
