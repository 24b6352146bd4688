#include "tools/aflguard/verbs/fleet_verbs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/learning/model_package.h"
#include "fleet/provisioning/dashboard_access.h"
#include "fleet/provisioning/provisioning.h"
#include "tools/aflguard/rollout/rollout_verbs.h"
#include "tools/aflguard/verbs/reload_message.h"
#include "tools/aflguard/verbs/viewer_verbs.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;

struct FleetOptions {
  std::string target;  ///< of init: AFLGUARD_FLEET must not stand for it
  std::string folder;
  std::string role;
  fleet::FleetSettings settings;
  std::string model;
  bool json = false;
};

constexpr std::uint64_t kEnvelopeOverhead = 64 << 10;
constexpr std::uint64_t kLargestMessage = 256 << 20;  // MQTT's own limit
/// Whole models that the broker may hold for one receiver, e.g. while a gateway restarts.
constexpr std::uint64_t kQueuedModels = 8;

/// Room for the model: what its messages need, when it is larger than the default.
Status fit_limits(const std::string& package_folder, fleet::FleetSettings& settings) {
  TRY(const ModelPackage package, read_model_package(package_folder));
  const ModelDescription& model = package.description;
  const std::uint64_t bytes = 4 * std::uint64_t{model.dimension()} + kEnvelopeOverhead;
  if (bytes > kLargestMessage) {
    return unsupported("model '" + model.name + "' has " + std::to_string(model.dimension()) +
                       " parameters, and its message " + std::to_string(bytes) +
                       " bytes; MQTT carries at most " + std::to_string(kLargestMessage) + ", which are " +
                       std::to_string((kLargestMessage - kEnvelopeOverhead) / 4) +
                       " parameters: choose a smaller model");
  }
  settings.message_bytes = std::max(settings.message_bytes, bytes);
  settings.queue_bytes = std::max(settings.queue_bytes, kQueuedModels * bytes);
  return {};
}

Status init(const FleetOptions& options) {
  const SystemClock clock;
  fleet::FleetSettings settings = options.settings;
  TRY_STATUS(fleet::check_settings(settings));
  std::optional<std::filesystem::path> model;
  if (!options.model.empty()) {
    model = options.model;
    TRY_STATUS(fit_limits(options.model, settings));
  }
  TRY(const auto authority, make_authority(settings.name, clock));
  TRY_STATUS(fleet::create_fleet(options.target, settings, *authority, model, clock));
  if (options.json) {
    const Json json = {{"schema", "aflguard-fleet-1"},
                       {"name", settings.name},
                       {"folder", std::filesystem::absolute(options.target).string()},
                       {"broker", {{"host", settings.broker_host}, {"port", settings.broker_port}}}};
    std::printf("%s\n", json.dump(2).c_str());
    return {};
  }
  const char* const folder = options.target.c_str();
  std::printf("fleet '%s' is in %s. What comes next:\n", settings.name.c_str(), folder);
  if (!model)
    std::printf("  aflguard model build --zoo cnn -o %s/model    the model that it learns\n", folder);
  std::printf("  edit %s/gateway/gateway.toml    the trusted data, the guard\n", folder);
  std::printf("  /usr/sbin/mosquitto -c %s/broker/mosquitto.conf    the broker\n", folder);
  std::printf("  aflguard-gateway --config %s/gateway/gateway.toml\n", folder);
  std::printf("  aflguard device add pi-1 --fleet %s\n", folder);
  std::printf("%s/ca/ca.key can enrol devices: back it up, and keep it secret.\n", folder);
  if (fleet::is_loopback(settings.broker_host)) {
    std::printf("The broker is reachable from this machine only; --broker-host NAME makes one for boards.\n");
  }
  return {};
}

/// Pages come with a key, not with a certificate.
Status renew_dashboard(const fleet::Fleet& fleet, fleet::CertificateAuthority& authority) {
  TRY_STATUS(fleet::renew_dashboard_key(fleet.settings(), fleet.folder(), authority));
  std::printf("the dashboard has a new key; aflguard dashboard prints the new address\n");
  return tell_broker(fleet);
}

Status renew(const FleetOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.folder));
  const bool broker = options.role == "broker";
  const bool gateway = options.role == "gateway";
  const bool key = options.role == "dashboard-key";
  if (!broker && !gateway && !key && fleet.viewers().find(options.role) == nullptr) {
    return invalid_input(
        "'" + options.role +
        "' is none of broker, gateway, dashboard-key and the fleet's viewers (aflguard fleet viewer list)");
  }
  TRY(const auto authority, open_authority(fleet.folder()));
  if (key) return renew_dashboard(fleet, *authority);
  if (broker || gateway) {
    TRY_STATUS(
        fleet.renew_role(broker ? fleet::FleetRole::kBroker : fleet::FleetRole::kGateway, *authority, clock));
  } else {
    TRY_STATUS(fleet.renew_viewer(options.role, std::nullopt, *authority, clock));
  }
  std::printf("the %s has a new certificate for %d days; its key is the same\n", options.role.c_str(),
              fleet.settings().certificate_days);
  if (broker) return tell_broker(fleet);
  if (gateway) std::printf("restart aflguard-gateway to use it: nothing is lost\n");
  return {};
}

Status refresh(const FleetOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.folder));
  TRY(const auto authority, open_authority(fleet.folder()));
  TRY_STATUS(fleet.refresh_broker(*authority, clock));
  std::printf("%s/broker is up to date with fleet.toml and devices.db\n", fleet.folder().root.c_str());
  return tell_broker(fleet);
}

void add_init(CLI::App& fleet, const std::shared_ptr<FleetOptions>& options, Action& action) {
  CLI::App* verb = fleet.add_subcommand("init", "Make a fleet's folder: authority, broker, gateway, viewers");
  verb->add_option("folder", options->target, "A folder that does not exist yet")->required();
  verb->add_option("--name", options->settings.name, "The fleet's name, a part of every topic")->required();
  verb->add_option("--broker-host", options->settings.broker_host, "How boards reach the broker")
      ->capture_default_str();
  verb->add_option("--broker-port", options->settings.broker_port, "Its port")
      ->check(CLI::Range(1, 65535))
      ->capture_default_str();
  verb->add_option("--dashboard-port", options->settings.dashboard_port,
                   "Where browsers reach the broker, e.g. 8884; 0: nowhere (docs/dashboard.md)")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  verb->add_option("--dashboard-host", options->settings.dashboard_host,
                   "The address that it listens on there; 0.0.0.0: every one of this machine")
      ->capture_default_str();
  verb->add_option("--model", options->model, "A model package to copy into the fleet");
  verb->add_option("--days", options->settings.certificate_days, "How long certificates are valid")
      ->capture_default_str();
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Examples:\n"
      "  aflguard fleet init greenhouse --name greenhouse --broker-host broker.example.org\n"
      "  aflguard fleet init test --name test --model mnist-cnn");
  verb->callback([options, &action] { action = [options] { return init(*options); }; });
}

}  // namespace

void add_fleet_verbs(CLI::App& app, Action& action) {
  auto options = std::make_shared<FleetOptions>();
  CLI::App* fleet = app.add_subcommand("fleet", "Make a fleet, and keep its programs' certificates fresh");
  fleet->require_subcommand(1);
  fleet->footer(
      "docs/operate.md has the whole story.\n\nExample:\n  aflguard fleet init greenhouse --name greenhouse");
  add_init(*fleet, options, action);

  CLI::App* renewal = fleet->add_subcommand("renew", "A new certificate for one of the fleet's programs");
  renewal->add_option("role", options->role, "broker, gateway, a viewer, e.g. operator, or dashboard-key")
      ->required();
  renewal->add_option("--fleet", options->folder, "The fleet's folder")
      ->envname("AFLGUARD_FLEET")
      ->required();
  renewal->footer("Example:\n  aflguard fleet renew broker --fleet greenhouse");
  renewal->callback([options, &action] { action = [options] { return renew(*options); }; });

  CLI::App* refreshing =
      fleet->add_subcommand("refresh", "Write the broker's files again from fleet.toml and the device book");
  refreshing->add_option("--fleet", options->folder, "The fleet's folder")
      ->envname("AFLGUARD_FLEET")
      ->required();
  refreshing->footer("Example, after the folder has moved:\n  aflguard fleet refresh --fleet greenhouse");
  refreshing->callback([options, &action] { action = [options] { return refresh(*options); }; });
  add_viewer_verbs(*fleet, action);
  add_rollout_verbs(*fleet, action);
}

}  // namespace aflguard::cli
