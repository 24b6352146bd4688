#include "firmware_sim/image/long_command.h"

#include <charconv>
#include <chrono>
#include <csignal>
#include <sstream>
#include <sys/wait.h>
#include <thread>

#include "core/system/atomic_file.h"
#include "core/system/background_process.h"
#include "core/system/child_process.h"

namespace aflguard::image {
namespace {

constexpr std::chrono::milliseconds kGlance{300};
constexpr const char* kStep = "aflguard-step: ";
/// Written by the shell around the command when it has ended well: a background process does not tell its
/// exit code.
constexpr const char* kDone = "aflguard-command: done";

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
  // The shell passes a request to end on to the command, and waits for it.
  std::vector<std::string> arguments = {
      "sh", "-c",
      "trap 'kill -TERM $child 2>/dev/null; wait $child; exit 130' TERM INT HUP; \"$@\" & child=$!; "
      "wait $child && echo '" +
          std::string(kDone) + "'",
      "sh"};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  TRY(BackgroundProcess process, BackgroundProcess::start(arguments, command.folder, command.log));
  while (process.running()) {
    if (stopped()) {
      process.end(SIGTERM);
      return unavailable("interrupted");
    }
    const CommandProgress now = command.read_log(text_of(command.log));
    progress.show(now.what, now.done, now.total);
    std::this_thread::sleep_for(kGlance);
  }
  const std::string text = text_of(command.log);
  if (text.find(kDone) != std::string::npos) return {};
  if (stopped()) return unavailable("interrupted");
  return io_error(last_words(text) + " (the whole story is in " + command.log.string() + ")");
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
