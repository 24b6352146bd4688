#include "firmware_sim/local_fleet/fleet_launcher.h"

#include <fstream>
#include <sstream>
#include <thread>

#include "core/system/child_group.h"
#include "core/system/child_process.h"
#include "core/system/machine/descriptor_limit.h"
#include "core/system/programs.h"
#include "core/telemetry/program_facts.h"

namespace aflguard::sim {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

constexpr auto kPollInterval = 20ms;
constexpr std::size_t kShownLines = 3;

/// Mosquitto is not ours and states no facts: these are its words, once its listeners are open.
bool broker_runs(std::string_view log) {
  return log.find(" running\n") != std::string_view::npos;
}

}  // namespace

bool sleep_on(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
  return false;
}

Error interrupted() {
  return unavailable("interrupted; everything that was started has been stopped");
}

Result<fs::path> fleet_program(const std::string& name, const fs::path& folder) {
  if (folder.empty()) return program_beside_us(name);
  std::error_code error;
  if (fs::exists(folder / name, error)) return folder / name;
  return not_found("there is no " + (folder / name).string());
}

bool says_ready(std::string_view log) {
  bool ready = false;
  for_each_fact(log, [&](const ProgramFact& fact) { ready |= std::holds_alternative<ReadyFact>(fact); });
  return ready;
}

FleetLauncher::FleetLauncher(fleet::FleetFolder folder, fs::path logs, ProgramHost& host,
                             LaunchOptions options)
    : folder_(std::move(folder)), logs_(std::move(logs)), host_(host), options_(std::move(options)) {}

Status FleetLauncher::check_gateway() const {
  TRY(const fs::path gateway, fleet_program("aflguard-gateway", options_.programs));
  const fs::path configuration = gateway_configuration();
  TRY(const ProgramOutcome tested,
      run_program({gateway.string(), "--config", configuration.string(), "--test-config"}, "/"));
  if (tested.exit_code == 0) return {};
  return invalid_input("the gateway does not take " + configuration.string() + ": " + tested.last_line());
}

Status FleetLauncher::start_broker() {
  raise_descriptor_limit();  // every connection needs one, and shells give 1024
  TRY_STATUS(
      start(kBrokerProgram, {mosquitto_program(), "-c", (folder_.broker() / "mosquitto.conf").string()}));
  return wait_for(kBrokerProgram, "does not run", broker_runs);
}

Status FleetLauncher::start_gateway() {
  TRY(const fs::path gateway, fleet_program("aflguard-gateway", options_.programs));
  return start_ready(kGatewayProgram, {gateway.string(), "--config", gateway_configuration().string()});
}

Status FleetLauncher::start_client(const ClientCommand& client) {
  return start(client.device, client.arguments);
}

Status FleetLauncher::wait_for_client(std::string_view device) {
  return wait_for(device, "is not connected", says_ready);
}

Status FleetLauncher::start_ready(std::string_view name, std::vector<std::string> arguments) {
  TRY_STATUS(start(name, std::move(arguments)));
  return wait_for(name, "is not ready", says_ready);
}

Status FleetLauncher::start(std::string_view name, std::vector<std::string> arguments) {
  std::error_code error;
  fs::create_directories(logs_, error);
  const Command command{std::move(arguments), folder_.root, log(name)};
  begin_[std::string(name)] = fs::exists(command.log, error) ? fs::file_size(command.log, error) : 0;
  return host_.start(name, command);
}

std::string FleetLauncher::written(std::string_view name) const {
  const auto begin = begin_.find(name);
  std::ifstream in(log(name), std::ios::binary);
  in.seekg(begin == begin_.end() ? 0 : static_cast<std::streamoff>(begin->second));
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return std::move(text).str();
}

Status FleetLauncher::wait_for(std::string_view name, const std::string& problem,
                               const std::function<bool(std::string_view written)>& done) {
  const auto deadline = std::chrono::steady_clock::now() + options_.timeout;
  while (true) {
    // Asked first: a program may say that it is ready, and end.
    const Status running = host_.check_running(name);
    if (done(written(name))) return {};
    TRY_STATUS(running);
    if (std::chrono::steady_clock::now() >= deadline) {
      return unavailable("the " + std::string(name) + " " + problem + " after " +
                         std::to_string(options_.timeout.count()) + " s; its log " + log(name).string() +
                         " ends: " + last_lines(log(name), kShownLines));
    }
    if (options_.pause(kPollInterval)) return interrupted();
  }
}

}  // namespace aflguard::sim
