#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace aflguard::image {

/// How far a command is, told from what it has written so far.
struct CommandProgress {
  std::string what;
  std::size_t done = 0;
  std::size_t total = 0;  ///< 0: unknown
};

/// A command that takes its time: its output goes to `log`, which is started again, and `read_log` tells from
/// that text how far it is. Ends it when `stopped` says so (kUnavailable, "interrupted"). kIo with the log's
/// last line and its name when the command fails.
struct LongCommand {
  std::vector<std::string> arguments;
  std::filesystem::path folder;
  std::filesystem::path log;
  std::function<CommandProgress(const std::string&)> read_log;
};
[[nodiscard]] Status run_long_command(const LongCommand& command, Progress& progress,
                                      const std::function<bool()>& stopped);

/// Of Debian's package tools: every package is unpacked, then set up.
[[nodiscard]] CommandProgress package_progress(const std::string& log);
/// Of make_root.sh: its latest step.
[[nodiscard]] CommandProgress step_progress(const std::string& log);

}  // namespace aflguard::image
