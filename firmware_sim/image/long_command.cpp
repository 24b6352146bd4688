#include "firmware_sim/image/long_command.h"

#include <charconv>
#include <chrono>
#include <csignal>
#include <sstream>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/file_descriptor.h"
#include "core/system/process.h"

namespace aflguard::image {
namespace {

constexpr std::chrono::milliseconds kPollInterval{300};
constexpr const char* kStep = "aflguard-step: ";

std::string text_of(const std::filesystem::path& log) {
  auto text = read_text_file(log);
  return text.ok() ? std::move(text).value() : std::string();
}

/// The last line of the command itself that says something.
std::string last_words(const std::string& text) {
  return ProgramOutcome{0, text}.last_line();
}

}  // namespace

Status run_long_command(const LongCommand& command, Progress& progress,
                        const std::function<bool()>& stopped) {
  std::error_code error;
  std::filesystem::remove(command.log, error);
  TRY(const FileDescriptor output, open_log(command.log));
  // Ctrl-C comes to this program alone, which then asks the command to end.
  TRY(Process process, Process::start({.arguments = command.arguments,
                                       .folder = command.folder,
                                       .output = output.get(),
                                       .error = output.get(),
                                       .group = ProcessGroup::kOwn,
                                       .ends_with_us = true}));
  while (process.running()) {
    if (stopped()) {
      process.signal(SIGTERM);
      process.wait();
      return unavailable("interrupted");
    }
    const CommandProgress now = command.read_log(text_of(command.log));
    progress.show(now.what, now.done, now.total);
    (void)process.wait_for(kPollInterval);
  }
  if (process.wait() == ProcessEnd{}) return {};
  if (stopped()) return unavailable("interrupted");
  return io_error(last_words(text_of(command.log)) + " (the whole story is in " + command.log.string() + ")");
}

CommandProgress package_progress(const std::string& log) {
  CommandProgress progress{"Debian's packages", 0, 0};
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Unpacking ") || line.starts_with("Setting up ")) ++progress.done;
    const auto count = line.find(" newly installed");
    if (count == std::string::npos || !line.starts_with("0 upgraded, ")) continue;
    std::size_t packages = 0;
    std::from_chars(line.data() + 12, line.data() + count, packages);
    progress.total += 2 * packages;
  }
  if (progress.total < progress.done) progress.total = progress.done;
  if (log.find("update-initramfs: Generating") != std::string::npos) progress.what += ", initial file system";
  return progress;
}

CommandProgress step_progress(const std::string& log) {
  const auto at = log.rfind(kStep);
  if (at == std::string::npos) return {"root file system", 0, 0};
  const auto begin = at + std::string(kStep).size();
  return {"root file system: " + log.substr(begin, log.find('\n', begin) - begin), 0, 0};
}

}  // namespace aflguard::image
