#include "tools/aflguard/rollout/rollout_verbs.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/short_text.h"
#include "core/system/secret_file.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning/release_key.h"
#include "fleet/rollout/release_line.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// A broker sends what it keeps at once; one that has just been restarted takes a moment.
constexpr seconds kFirstWord(30);
constexpr std::chrono::milliseconds kQuiet(1500);
constexpr seconds kPieceTimeout(60);

struct RolloutOptions {
  std::string folder;
  std::string package;
  std::string parameters;
  int canaries = 0;
  std::vector<std::string> devices;
  int wait_seconds = 600;
  bool force = false;
  bool json = false;
};

/// The fleet's owner at the broker: with the release key, and a certificate for an hour.
struct Office {
  fleet::FleetFolder folder;
  fleet::FleetSettings settings;
  std::vector<std::string> enrolled;
  std::unique_ptr<Signer> signer;
  std::unique_ptr<Verifier> verifier;
};

Result<Office> enter(const std::string& folder) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(folder));
  TRY(const auto authority, open_authority(fleet.folder()));
  std::error_code error;
  if (!std::filesystem::exists(fleet.folder().release_key(), error)) {
    return not_found(
        "the fleet has no release key; aflguard fleet refresh makes one. Its boards then need their "
        "bundles again (aflguard device bundle), or " +
        fleet.folder().release_public_key().string() + " beside their client.toml");
  }
  TRY_STATUS(fleet::certify_release_key(fleet.folder(), *authority, clock));
  Office office{fleet.folder(), fleet.settings(), {}, nullptr, release_verifier()};
  TRY_STATUS(
      fleet.book().each_active_name([&](std::string_view name) { office.enrolled.emplace_back(name); }));
  TRY(office.signer, release_signer(fleet.folder()));
  return office;
}

class NoLog final : public LogSink {
 public:
  void write(LogLevel, std::string_view) override {}
};

/// Connected, and the gateway has said which model the fleet trains.
Result<fleet::ReleaseLine> call(const Office& office, LogSink& log) {
  TRY(auto bus, release_bus(office.settings, office.folder, log));
  TRY(auto line, fleet::ReleaseLine::open(std::move(bus), office.settings.name));
  line.listen(steady_clock::now() + kFirstWord, [&] { return line.rollout().has_value(); });
  if (line.rollout()) return line;
  if (!line.problem().empty()) return unavailable("cannot reach the broker: " + line.problem());
  return unavailable(
      "the gateway has not said which model the fleet trains: is it running, and has `aflguard fleet "
      "refresh` been "
      "run since it was upgraded?");
}

bool takes_part(const DeviceStatus& status) {
  return status.state == DeviceState::kReady || status.state == DeviceState::kTraining;
}

Result<std::vector<std::string>> choose_canaries(const RolloutOptions& options, const Office& office,
                                                 fleet::ReleaseLine& line) {
  for (const std::string& device : options.devices) {
    if (std::ranges::find(office.enrolled, device) != office.enrolled.end()) continue;
    return not_found("the fleet has no device '" + device + "' (aflguard device list shows all)");
  }
  if (options.canaries == 0) return options.devices;
  line.listen(steady_clock::now() + kQuiet, [] { return false; });
  std::vector<std::string> found;
  for (const auto& [device, status] : line.devices()) {
    const bool enrolled = std::ranges::find(office.enrolled, device) != office.enrolled.end();
    if (enrolled && takes_part(status) && found.size() < static_cast<std::size_t>(options.canaries)) {
      found.push_back(device);
    }
  }
  if (found.size() == static_cast<std::size_t>(options.canaries)) return found;
  return unavailable("only " + std::to_string(found.size()) +
                     " devices are connected and well, --canary asks for " +
                     std::to_string(options.canaries) + "; give fewer, or name devices with --devices");
}

Json model_json(const NumberedModel& model) {
  return {{"number", model.number}, {"name", model.name}, {"hash", model.hash}};
}

void print_json(const fleet::ReleaseLine& line) {
  const RolloutStatus& now = *line.rollout();
  Json document = {{"schema", "aflguard-fleet-rollout-1"}, {"stage", to_string(now.stage)},
                   {"current", model_json(now.current)},   {"release", now.release},
                   {"target", model_json(now.target)},     {"message", now.message}};
  document["canaries"] = Json::array();
  for (const CanaryState& canary : now.canaries) {
    document["canaries"].push_back(
        {{"device", canary.device}, {"state", canary.state}, {"text", canary.text}});
  }
  document["devices"] = Json::array();
  for (const auto& [device, status] : line.devices()) {
    document["devices"].push_back(
        {{"device", device},
         {"state", to_string(status.state)},
         {"model", status.model},
         {"model_number", status.model_number ? Json(*status.model_number) : Json()},
         {"model_hash", status.model_hash},
         {"upgrade", status.upgrade}});
  }
  std::printf("%s\n", document.dump(2).c_str());
}

std::string text_of(const RolloutStatus& now) {
  std::string text = "roll-out of " + now.target.name + " (number " + std::to_string(now.target.number) +
                     "): " + std::string(to_string(now.stage));
  if (now.stage == RolloutStage::kFetching) {
    text += ", the gateway has " + std::to_string(now.pieces_here) + " of " + std::to_string(now.pieces) +
            " pieces";
  }
  return text + (now.message.empty() ? "" : ", " + now.message);
}

bool has_ended(const RolloutStatus& now) {
  return now.stage == RolloutStage::kDone || now.stage == RolloutStage::kFailed;
}

/// Until the gateway has changed over, or the roll-out has stopped.
Status follow(const RolloutOptions& options, const fleet::ReleaseBook& book, std::uint64_t release,
              fleet::ReleaseLine& line) {
  const auto deadline = steady_clock::now() + seconds(options.wait_seconds);
  std::string shown;
  const auto ended = [&] {
    const RolloutStatus& now = *line.rollout();
    if (now.release < release) return false;
    if (const std::string text = text_of(now); text != shown && !options.json) {
      std::printf("%s\n", text.c_str());
      std::fflush(stdout);
      shown = text;
    }
    return has_ended(now);
  };
  line.listen(deadline, ended);
  const RolloutStatus& now = *line.rollout();
  if (now.release > release) return invalid_input("another order has taken the place of this one");
  if (now.stage == RolloutStage::kDone) TRY_STATUS(book.install_model(now.current.hash));
  if (options.json) print_json(line);
  if (now.release == release && now.stage == RolloutStage::kFailed) {
    return invalid_input("the roll-out has stopped, and the fleet goes on as it was: " + now.message);
  }
  if (!has_ended(now) || now.release < release) {
    if (!options.json) {
      std::printf("the order is with the broker; aflguard fleet rollout status shows how it goes on\n");
    }
  }
  return {};
}

Status send_and_follow(const RolloutOptions& options, const fleet::ReleaseBook& book,
                       const fleet::PreparedRelease& prepared, fleet::ReleaseLine& line) {
  const ReleaseMessage& release = prepared.release;
  if (!options.json) {
    std::printf("order %llu: model %s, number %llu, %zu bytes%s\n",
                static_cast<unsigned long long>(release.number), release.model_name.c_str(),
                static_cast<unsigned long long>(release.model_number), prepared.archive.size(),
                release.canaries.empty() ? "" : ", canaries first");
  }
  TRY_STATUS(line.send(prepared, kPieceTimeout, [](std::size_t, std::size_t) {}));
  return follow(options, book, release.number, line);
}

Status roll_out(const RolloutOptions& options) {
  NoLog log;
  TRY(const Office office, enter(options.folder));
  // What can be wrong with the package is found before anything is asked for.
  TRY(const ModelPackage package, read_model_package(options.package));
  TRY(auto line, call(office, log));
  fleet::RolloutRequest request;
  request.package = options.package;
  if (!options.parameters.empty()) request.parameters = options.parameters;
  request.force = options.force;
  TRY(request.canaries, choose_canaries(options, office, line));
  TRY(auto book,
      fleet::ReleaseBook::open(office.folder, office.settings.name, *office.signer, *office.verifier));
  TRY(const auto prepared, book.prepare(request, *line.rollout(), office.settings.message_bytes));
  return send_and_follow(options, book, prepared, line);
}

Status undo(const RolloutOptions& options) {
  NoLog log;
  TRY(const Office office, enter(options.folder));
  TRY(auto line, call(office, log));
  TRY(auto book,
      fleet::ReleaseBook::open(office.folder, office.settings.name, *office.signer, *office.verifier));
  TRY(const auto prepared, book.prepare_undo(*line.rollout(), options.force));
  return send_and_follow(options, book, prepared, line);
}

void print_status(const fleet::ReleaseLine& line) {
  const RolloutStatus& now = *line.rollout();
  std::printf("the fleet trains %s, number %llu (%s)\n", now.current.name.c_str(),
              static_cast<unsigned long long>(now.current.number), short_hash(now.current.hash).c_str());
  if (now.release > 0) std::printf("%s\n", text_of(now).c_str());
  for (const CanaryState& canary : now.canaries) {
    std::printf("  canary %s: %s%s%s\n", canary.device.c_str(), canary.state.c_str(),
                canary.text.empty() ? "" : ", ", canary.text.c_str());
  }
  std::size_t behind = 0;
  for (const auto& [device, status] : line.devices()) {
    const bool same = !status.model_hash.empty() && now.current.hash.starts_with(status.model_hash);
    if (same) continue;
    ++behind;
    std::printf("  %s (%s) has %s%s%s\n", device.c_str(), std::string(to_string(status.state)).c_str(),
                status.model_hash.empty() ? "not said which model it has" : status.model.c_str(),
                status.upgrade.empty() ? "" : ": ", status.upgrade.c_str());
  }
  std::printf("%zu of %zu devices have the fleet's model\n", line.devices().size() - behind,
              line.devices().size());
}

Status show(const RolloutOptions& options) {
  NoLog log;
  TRY(const Office office, enter(options.folder));
  TRY(auto line, call(office, log));
  line.listen(steady_clock::now() + kQuiet, [] { return false; });
  TRY(const auto book,
      fleet::ReleaseBook::open(office.folder, office.settings.name, *office.signer, *office.verifier));
  if (line.rollout()->stage == RolloutStage::kDone) {
    TRY_STATUS(book.install_model(line.rollout()->current.hash));
  }
  if (options.json) {
    print_json(line);
  } else {
    print_status(line);
  }
  return {};
}

void add_common(CLI::App& verb, const std::shared_ptr<RolloutOptions>& options) {
  verb.add_option("--fleet", options->folder, "The fleet's folder")->envname("AFLGUARD_FLEET")->required();
  verb.add_flag("--json", options->json, "Print one JSON document");
}

void add_wait(CLI::App& verb, const std::shared_ptr<RolloutOptions>& options) {
  verb.add_option("--wait", options->wait_seconds, "Follow it for so many seconds; 0: do not")
      ->check(CLI::Range(0, 86'400))
      ->capture_default_str();
}

}  // namespace

void add_rollout_verbs(CLI::App& fleet, Action& action) {
  auto options = std::make_shared<RolloutOptions>();
  CLI::App* rollout = fleet.add_subcommand("rollout", "Have the fleet train another model");
  rollout->add_option("package", options->package, "The model package (aflguard model build)");
  auto* canary = rollout->add_option("--canary", options->canaries, "So many connected boards try it first")
                     ->check(CLI::Range(1, 256));
  rollout->add_option("--devices", options->devices, "These boards try it first")
      ->delimiter(',')
      ->excludes(canary);
  rollout->add_option("--parameters", options->parameters,
                      "A .npy file to start with; otherwise the package's own values");
  rollout->add_flag("--force", options->force, "Also an older model, and in the middle of another roll-out");
  rollout->add_option("--fleet", options->folder, "The fleet's folder")->envname("AFLGUARD_FLEET");
  rollout->add_flag("--json", options->json, "Print one JSON document");
  add_wait(*rollout, options);
  rollout->footer(
      "Exit codes: 0 the gateway has changed over (or --wait has ended), 1 it has not and will not.\n\n"
      "Examples:\n  aflguard fleet rollout next-model --fleet greenhouse --canary 2\n"
      "  aflguard fleet rollout status --fleet greenhouse");
  rollout->require_subcommand(0, 1);
  rollout->callback([rollout, options, &action] {
    if (!rollout->get_subcommands().empty()) return;
    if (options->package.empty()) throw CLI::RequiredError("a model package, status or undo");
    if (options->folder.empty()) throw CLI::RequiredError("--fleet");
    action = [options] { return roll_out(*options); };
  });
  CLI::App* status = rollout->add_subcommand("status", "Which model the fleet and each board has");
  add_common(*status, options);
  status->footer("Example:\n  aflguard fleet rollout status --fleet greenhouse --json");
  status->callback([options, &action] { action = [options] { return show(*options); }; });
  CLI::App* undoing = rollout->add_subcommand("undo", "Back to the model before, or stop a roll-out");
  add_common(*undoing, options);
  add_wait(*undoing, options);
  undoing->add_flag("--force", options->force, "Also after a roll-out that has stopped by itself");
  undoing->footer("Example:\n  aflguard fleet rollout undo --fleet greenhouse");
  undoing->callback([options, &action] { action = [options] { return undo(*options); }; });
}

}  // namespace aflguard::cli
