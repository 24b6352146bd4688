#include "tools/aflguard/verbs/monitor_verbs.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "fleet/monitor/monitor_run.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

Status check(const view::MonitorOptions& options) {
  if (options.viewer.fleet.empty() && options.viewer.viewer_folder.empty()) {
    return invalid_input(
        "which fleet? --fleet DIR (or AFLGUARD_FLEET) names its folder, --viewer DIR a viewer's");
  }
  return {};
}

void add_viewer_options(CLI::App* verb, view::MonitorOptions& options) {
  CLI::Option* fleet =
      verb->add_option("--fleet", options.viewer.fleet, "The fleet's folder")->envname("AFLGUARD_FLEET");
  verb->add_option("--identity", options.viewer.identity, "Watch as this viewer of the fleet")->needs(fleet);
  verb->add_option("--viewer", options.viewer.viewer_folder,
                   "A viewer's folder (aflguard fleet viewer bundle), on any machine");
}

}  // namespace

void add_monitor_verbs(CLI::App& app, Action& action) {
  auto options = std::make_shared<view::MonitorOptions>();
  CLI::App* monitor = app.add_subcommand("monitor", "Watch a fleet live, from the broker's topics");
  add_viewer_options(monitor, *options);
  CLI::Option* once = monitor->add_flag("--once", options->once, "Print the fleet as it is now, and end");
  monitor->add_flag("--json", options->json, "With --once: one JSON document")->needs(once);
  monitor->add_option("--interval", options->interval, "Seconds between two screens (0.5) or lines (5)")
      ->check(CLI::Range(0.1, 3600.0));
  monitor->footer(
      "On a terminal: a screen, ? for its keys. Otherwise: a line every few seconds, and every event.\n"
      "NO_COLOR is respected. docs/monitor.md explains what is shown.\n\n"
      "Examples:\n  aflguard monitor --fleet greenhouse\n  aflguard monitor --fleet greenhouse --once "
      "--json\n"
      "  aflguard monitor --viewer anna");
  monitor->callback([options, &action] {
    action = [options]() -> Status {
      TRY_STATUS(check(*options));
      return view::run_monitor(*options, viewer_bus());
    };
  });

  CLI::App* status = app.add_subcommand("status", "The fleet as it is now: gateway, and devices by trouble");
  add_viewer_options(status, *options);
  status->add_flag("--json", options->json, "Print one JSON document");
  status->footer(
      "Examples:\n  aflguard status --fleet greenhouse\n"
      "  aflguard status --fleet greenhouse --json");
  status->callback([options, &action] {
    action = [options]() -> Status {
      TRY_STATUS(check(*options));
      return view::print_status(*options, viewer_bus());
    };
  });
}

}  // namespace aflguard::cli
