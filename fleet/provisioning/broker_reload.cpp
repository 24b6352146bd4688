#include "fleet/provisioning/broker_reload.h"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"

namespace aflguard::fleet {

std::optional<pid_t> broker_process(const FleetFolder& folder) {
  const auto text = read_text_file(folder.broker_pid(), 64);
  pid_t pid = 0;
  if (!text.ok() || std::from_chars(text->data(), text->data() + text->size(), pid).ec != std::errc() ||
      pid <= 1) {
    return std::nullopt;
  }
  std::string command;
  std::ifstream in("/proc/" + std::to_string(pid) + "/comm");
  if (!std::getline(in, command) || command != "mosquitto") return std::nullopt;
  return pid;
}

namespace {

/// True when the process has a handler for SIGHUP; without one the signal would end it. Mosquitto makes its
/// handler after it has started to listen.
bool handles_hangup(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kCaught = "SigCgt:\t";
    if (!line.starts_with(kCaught)) continue;
    std::uint64_t mask = 0;
    std::from_chars(line.data() + kCaught.size(), line.data() + line.size(), mask, 16);
    return ((mask >> (SIGHUP - 1)) & 1U) != 0;
  }
  return false;
}

bool wait_for_handler(pid_t process) {
  constexpr std::chrono::milliseconds kAskAgain{5};
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!handles_hangup(process)) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kAskAgain);
  }
  return true;
}

Result<BrokerReload> run_reload_command(const FleetSettings& settings, const FleetFolder& folder) {
  TRY(const ProgramOutcome outcome, run_program({"sh", "-c", settings.reload_command}, folder.root));
  if (outcome.exit_code == 0) return BrokerReload::kTold;
  return io_error("the reload command of fleet.toml (" + settings.reload_command + ") ended with code " +
                  std::to_string(outcome.exit_code) + ": " + outcome.last_line());
}

}  // namespace

Result<BrokerReload> reload_broker(const FleetSettings& settings, const FleetFolder& folder) {
  if (!settings.reload_command.empty()) return run_reload_command(settings, folder);
  const auto process = broker_process(folder);
  if (!process) return BrokerReload::kNotRunning;
  if (!wait_for_handler(*process)) {
    return unavailable("the broker, process " + std::to_string(*process) +
                       ", is not ready to read its files again; its log says why");
  }
  if (::kill(*process, SIGHUP) == 0) return BrokerReload::kTold;
  if (errno == ESRCH) return BrokerReload::kNotRunning;
  return io_error("cannot signal the broker, process " + std::to_string(*process) + ": " +
                  std::strerror(errno) +
                  "; run this as the broker's user, or set [broker] reload in fleet.toml");
}

}  // namespace aflguard::fleet
