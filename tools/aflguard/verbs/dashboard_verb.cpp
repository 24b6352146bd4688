#include "tools/aflguard/verbs/dashboard_verb.h"

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "core/system/programs.h"
#include "core/system/stop_signal.h"
#include "fleet/dashboard_server/page_file.h"
#include "fleet/dashboard_server/page_server.h"
#include "fleet/provisioning/dashboard_access.h"

namespace aflguard::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::seconds kConnectTimeout(10);

struct DashboardOptions {
  std::string folder;
  std::string page;
  std::uint16_t port = 8090;
  bool json = false;
};

Status serve(const DashboardOptions& options) {
  const fleet::FleetFolder folder{options.folder};
  TRY(const fleet::FleetSettings settings, fleet::read_fleet_settings(folder.settings()));
  TRY(const std::string key, fleet::read_dashboard_key(settings, folder));
  TRY(const std::string authority, read_text_file(folder.broker() / "ca.crt"));
  TRY(const fs::path programs, own_folder());
  TRY(const std::string page, fleet::read_page(options.page, programs));
  std::mutex mutex;
  std::condition_variable wake;
  TRY(const auto signal, StopSignal::install([&] {
        const std::lock_guard lock(mutex);
        wake.notify_all();
      }));
  TRY(const auto server,
      fleet::PageServer::start({.port = options.port, .page = page, .connect = [&settings, &authority] {
                                  return fleet::BrokerStream::connect(
                                      fleet::dashboard_listener_host(settings), settings.dashboard_port,
                                      authority, kConnectTimeout);
                                }}));
  const std::string address =
      "http://127.0.0.1:" + std::to_string(server->port()) + "/#fleet=" + settings.name + "&key=" + key;
  if (options.json) {
    const nlohmann::ordered_json json = {{"schema", "aflguard-dashboard-1"},
                                         {"address", address},
                                         {"port", server->port()},
                                         {"fleet", settings.name}};
    std::printf("%s\n", json.dump().c_str());
  } else {
    std::printf("%s\n", address.c_str());
  }
  std::fflush(stdout);
  std::fprintf(stderr,
               "open this address in a browser; it holds the key that shows the fleet. Ctrl-C ends.\n");
  std::unique_lock lock(mutex);
  wake.wait(lock, [&] { return signal->requested(); });
  return {};
}

}  // namespace

void add_dashboard_verb(CLI::App& app, Action& action) {
  auto options = std::make_shared<DashboardOptions>();
  CLI::App* verb = app.add_subcommand("dashboard", "Show a fleet live in a browser on this machine");
  verb->add_option("--fleet", options->folder, "The fleet's folder")->envname("AFLGUARD_FLEET")->required();
  verb->add_option("--port", options->port, "Where the page is, on 127.0.0.1; 0: a free port")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--page", options->page, "The page, when it is not where it was installed");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Serves the page, passes its WebSocket on to the broker, and prints the address to open. The fleet\n"
      "needs a listener for browsers: aflguard fleet init --dashboard-port 8884 (docs/dashboard.md).\n\n"
      "Example:\n  aflguard dashboard --fleet greenhouse");
  verb->callback([options, &action] { action = [options] { return serve(*options); }; });
}

}  // namespace aflguard::cli
