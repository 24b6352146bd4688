#include "tools/aflguard/verbs/viewer_verbs.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/rfc3339.h"
#include "core/system/atomic_file.h"
#include "fleet/provisioning/broker_reload.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/device_cut_off.h"
#include "tools/aflguard/verbs/reload_message.h"
#include "tools/aflguard/verbs/verb_group.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::system_clock;

struct ViewerOptions {
  std::string fleet;
  std::string name;
  std::string output;
  std::optional<int> days;
  bool json = false;
};

/// None where the fleet is older than its book of viewers.
std::optional<system_clock::time_point> end_of(const fleet::Viewer& viewer) {
  std::optional<system_clock::time_point> latest;
  for (const fleet::ViewerCertificate& certificate : viewer.certificates) {
    latest = std::max(latest.value_or(certificate.not_after), certificate.not_after);
  }
  return latest;
}

const char* state_of(const fleet::Viewer& viewer) {
  if (viewer.revoked) return "revoked";
  const auto end = end_of(viewer);
  return end && *end < system_clock::now() ? "expired" : "active";
}

Json describe(const fleet::Fleet& fleet, const fleet::Viewer& viewer) {
  const auto end = end_of(viewer);
  Json json = {{"name", viewer.name}, {"state", state_of(viewer)}};
  json["not_after"] = end ? Json(to_rfc3339(*end)) : Json(nullptr);
  json["days_left"] =
      end ? Json(std::chrono::floor<std::chrono::days>(*end - system_clock::now()).count()) : Json(nullptr);
  json["folder"] = fleet.folder().viewer(viewer.name).string();
  return json;
}

void print_json(const fleet::Fleet& fleet, const std::string& name) {
  Json document = {{"schema", "aflguard-viewer-1"}, {"fleet", fleet.settings().name}};
  document["viewer"] = describe(fleet, *fleet.viewers().find(name));
  std::printf("%s\n", document.dump(2).c_str());
}

Status add(const ViewerOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  TRY_STATUS(fleet.add_viewer(options.name, options.days, *authority, clock));
  if (options.json) {
    TRY([[maybe_unused]] const auto told, fleet::reload_broker(fleet.settings(), fleet.folder()));
    print_json(fleet, options.name);
    return {};
  }
  std::printf("viewer '%s' may watch the fleet, and nothing else; its files are in %s\n",
              options.name.c_str(), fleet.folder().viewer(options.name).c_str());
  std::printf("here: aflguard monitor --fleet %s --identity %s\n", options.fleet.c_str(),
              options.name.c_str());
  std::printf(
      "elsewhere: take its files there (aflguard fleet viewer bundle), then aflguard monitor --viewer "
      "FOLDER\n");
  return tell_broker(fleet);
}

Status renew(const ViewerOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  TRY_STATUS(fleet.renew_viewer(options.name, options.days, *authority, clock));
  if (options.json) {
    print_json(fleet, options.name);
    return {};
  }
  std::printf("viewer '%s' has a new certificate until %s; its key is the same\n", options.name.c_str(),
              to_rfc3339(*end_of(*fleet.viewers().find(options.name))).c_str());
  return {};
}

Status list(const ViewerOptions& options) {
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  if (options.json) {
    Json document = {
        {"schema", "aflguard-viewer-list-1"}, {"fleet", fleet.settings().name}, {"viewers", Json::array()}};
    for (const fleet::Viewer& viewer : fleet.viewers().viewers) {
      document["viewers"].push_back(describe(fleet, viewer));
    }
    std::printf("%s\n", document.dump(2).c_str());
    return {};
  }
  std::printf("%-24s %-8s %s\n", "name", "state", "certificate ends");
  for (const fleet::Viewer& viewer : fleet.viewers().viewers) {
    const auto end = end_of(viewer);
    std::printf("%-24s %-8s %s\n", viewer.name.c_str(), state_of(viewer),
                end ? to_rfc3339(*end).c_str() : "not known");
  }
  return {};
}

Status revoke(const ViewerOptions& options) {
  const SystemClock clock;
  TRY(auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const auto authority, open_authority(fleet.folder()));
  const auto outcome = fleet::cut_off_viewer(fleet, options.name, *authority, clock, fleet::kCutOffTimeout);
  const fleet::Viewer* viewer = fleet.viewers().find(options.name);
  if (!outcome.ok() && viewer != nullptr && viewer->revoked) {
    return Error{outcome.error().kind, "viewer '" + options.name +
                                           "' is revoked in the book and the lists, but perhaps not at the "
                                           "broker: " +
                                           outcome.error().message + "; then run this again"};
  }
  if (!outcome.ok()) return outcome.error();
  if (options.json) {
    print_json(fleet, options.name);
    return {};
  }
  std::printf("viewer '%s' is revoked; %s\n", options.name.c_str(),
              *outcome == fleet::CutOff::kDone
                  ? "the broker refuses it, and its session has ended"
                  : "the broker does not run here and will refuse it when it starts");
  return {};
}

Status bundle(const ViewerOptions& options) {
  TRY(const auto fleet, fleet::Fleet::open(options.fleet));
  TRY(const std::string archive, fleet::viewer_bundle(fleet, options.name));
  TRY_STATUS(write_file_atomically(options.output, archive, FileAccess::kOwnerOnly));
  std::printf(
      "%s: unpack it into a new folder, then aflguard monitor --viewer FOLDER; it holds a key: "
      "keep it secret\n",
      options.output.c_str());
  return {};
}

}  // namespace

void add_viewer_verbs(CLI::App& fleet, Action& action) {
  auto options = std::make_shared<ViewerOptions>();
  CLI::App* viewer = fleet.add_subcommand("viewer", "Who may watch the fleet: add, list, renew, revoke");
  viewer->require_subcommand(1);
  viewer->footer(
      "A viewer reads statuses, metrics, summaries and events, asks for history, and may do nothing else.\n"
      "One identity is one connection: give every person, and every second screen, a separate one.\n\n"
      "Example:\n  aflguard fleet viewer add anna --fleet greenhouse");

  const VerbGroup<ViewerOptions> verbs(*viewer, options, action);
  CLI::App* verb = verbs.add(
      {"add", "Make an identity that may watch", "aflguard fleet viewer add anna --fleet greenhouse"}, add);
  verb->add_option("name", options->name, "Its name, which no viewer had before")->required();
  verb->add_option("--days", options->days, "How long the certificate is valid; otherwise as fleet.toml says")
      ->check(CLI::Range(1, 7000));
  verb->add_flag("--json", options->json, "Print one JSON document");

  verb = verbs.add({"renew", "A new certificate; the old one stays good until it ends",
                    "aflguard fleet viewer renew anna --fleet greenhouse"},
                   renew);
  verb->add_option("name", options->name, "A viewer")->required();
  verb->add_option("--days", options->days, "How long the certificate is valid; otherwise as fleet.toml says")
      ->check(CLI::Range(1, 7000));
  verb->add_flag("--json", options->json, "Print one JSON document");

  verb = verbs.add({"list", "Every viewer, with the end of its certificate",
                    "aflguard fleet viewer list --fleet greenhouse --json"},
                   list);
  verb->add_flag("--json", options->json, "Print one JSON document");

  verb = verbs.add({"revoke", "Shut a viewer out for good, also while it is connected",
                    "aflguard fleet viewer revoke anna --fleet greenhouse"},
                   revoke);
  verb->add_option("name", options->name, "A viewer")->required();
  verb->add_flag("--json", options->json, "Print one JSON document");

  verb = verbs.add({"bundle", "One file with everything that goes to the viewer's machine",
                    "aflguard fleet viewer bundle anna --fleet greenhouse -o anna.tar"},
                   bundle);
  verb->add_option("name", options->name, "A viewer")->required();
  verb->add_option("-o,--output", options->output, "The tar archive to write")->required();
}

}  // namespace aflguard::cli
