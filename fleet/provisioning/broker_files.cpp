#include "fleet/provisioning/broker_files.h"

#include <algorithm>
#include <pwd.h>
#include <unistd.h>

#include "fleet/provisioning/dashboard_access.h"
#include "fleet/provisioning/release_key.h"

namespace aflguard::fleet {
namespace {

/// Mosquitto's CONNECT, SUBSCRIBE and the head of a PUBLISH fit in this beside the payload.
constexpr std::uint64_t kPacketOverhead = 4096;
/// The viewer whose certificate Home Assistant has: with it, the gateway may tell Home Assistant of sensors.
constexpr const char* kHomeAssistant = "home-assistant";

std::string line(const std::string& key, const std::string& value) {
  return key + " " + value + "\n";
}

std::string limits(const FleetSettings& settings) {
  return "# A whole model is the largest message; everything else is cut into pieces.\n" +
         line("max_packet_size", std::to_string(settings.message_bytes + kPacketOverhead)) +
         "# What waits for one receiver is limited by its bytes. The default of 1000 messages drops pieces "
         "of\n"
         "# updates that the broker has acknowledged while a gateway pauses. (0, for no limit, makes "
         "Mosquitto\n"
         "# hang up on clients that publish what the access list forbids.)\n" +
         line("max_queued_messages", "1000000") +
         line("max_queued_bytes", std::to_string(settings.queue_bytes)) +
         "# Few at a time, in both directions: a receiver that stalls holds this many in memory beside the "
         "shared copy.\n" +
         line("max_inflight_messages", "20") +
         "# No client needs a session that outlives its connection for longer.\n" +
         line("persistent_client_expiration", "1d") + line("max_keepalive", "600");
}

std::string storage(const FleetFolder& folder) {
  return "# Retained messages survive a restart. Nothing else relies on what the broker remembers.\n" +
         line("persistence", "true") + line("persistence_location", folder.broker_state().string() + "/") +
         line("autosave_interval", "300") + line("pid_file", folder.broker_pid().string());
}

std::string listener(const FleetSettings& settings, const FleetFolder& folder) {
  const std::string port = std::to_string(settings.broker_port);
  const std::string bind = settings.broker_host == "::1" ? " ::1" : " 127.0.0.1";
  return line("listener", port + (is_loopback(settings.broker_host) ? bind : "")) +
         line("allow_anonymous", "false") + "# TLS 1.3 and a certificate of this fleet, or no connection.\n" +
         line("tls_version", "tlsv1.3") + line("require_certificate", "true") +
         line("cafile", (folder.broker() / "ca.crt").string()) +
         line("certfile", (folder.broker() / "broker.crt").string()) +
         line("keyfile", (folder.broker() / "broker.key").string()) +
         line("crlfile", folder.revocation_list().string()) +
         "# The certificate's name is the user and the client id: no client can publish as another, nor "
         "push\n"
         "# another out by taking its client id.\n" +
         line("use_identity_as_username", "true") + line("use_username_as_clientid", "true") +
         line("acl_file", folder.access_list().string()) +
         "# QoS 2 is not used here. The broker would keep every message of it until its sender releases "
         "it.\n" +
         line("max_qos", "1");
}

std::string viewer_rights(const std::string& fleet, const std::string& name) {
  return "\nuser " + name + "\n" + line("topic deny", fleet + "up/" + name + "/#") +
         line("topic deny", fleet + "down/" + name + "/#") + line("topic deny", fleet + "model") +
         line("topic deny", fleet + "release/#") + line("topic read", fleet + "up/+/status") +
         line("topic read", fleet + "gateway/status") + line("topic read", fleet + "gateway/metrics") +
         line("topic read", fleet + "gateway/devices/+") + line("topic read", fleet + "gateway/rollout") +
         line("topic read", fleet + "events") + line("topic write", fleet + "ask/" + name + "/history") +
         line("topic read", fleet + "tell/" + name + "/history") + line("topic read", "$SYS/broker/#");
}

/// A user that was revoked.
std::string no_rights(const std::string& name) {
  return "\nuser " + name + "\n" + line("topic deny", "#");
}

bool watched_from_home(const ViewerBook& viewers) {
  const Viewer* home = viewers.find(kHomeAssistant);
  return home != nullptr && !home->revoked;
}

}  // namespace

std::string current_user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  return entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
}

Result<std::string> mosquitto_configuration(const FleetSettings& settings, const FleetFolder& folder,
                                            const std::string& user) {
  const std::string root = folder.root.string();
  const bool plain = std::none_of(root.begin(), root.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
  if (!folder.root.is_absolute() || !plain || root.ends_with(' ')) {
    return invalid_input("the fleet's folder '" + root +
                         "' has a path that Mosquitto cannot read; choose a plain one");
  }
  return "# Mosquitto 2.0 for the fleet '" + settings.name + "': mosquitto -c " +
         (folder.broker() / "mosquitto.conf").string() +
         "\n# Made from fleet.toml by `aflguard fleet init` and `aflguard fleet refresh`: change it "
         "there.\n\n" +
         "# Only where root starts it; the files belong to this user.\n" + line("user", user) + "\n" +
         line("log_dest", "stderr") + line("log_type", "error") + line("log_type", "warning") +
         line("log_type", "notice") + line("log_type", "information") + line("connection_messages", "true") +
         line("set_tcp_nodelay", "true") + "\n" + storage(folder) + "\n" + limits(settings) + "\n" +
         line("per_listener_settings", "true") + listener(settings, folder) +
         (settings.dashboard_port == 0 ? "" : "\n" + dashboard_listener(settings, folder));
}

std::string broker_access_list(const FleetSettings& settings, const std::vector<std::string>& revoked_devices,
                               const ViewerBook& viewers) {
  const std::string fleet = "aflguard/v1/" + settings.name + "/";
  std::string text =
      "# Made by `aflguard device ...` and `aflguard fleet ...`: changes here are lost.\n\n"
      "# It takes back what the broker keeps of devices that were revoked.\n"
      "user gateway\n" +
      line("topic read", fleet + "up/+/update") + line("topic readwrite", fleet + "up/+/status") +
      line("topic read", fleet + "ask/+/history") + line("topic write", fleet + "down/+/verdict") +
      line("topic write", fleet + "model") + line("topic write", fleet + "gateway/status") +
      line("topic write", fleet + "gateway/metrics") + line("topic write", fleet + "gateway/devices/+") +
      line("topic write", fleet + "events") + line("topic write", fleet + "tell/+/history") +
      line("topic readwrite", fleet + "release/#") + line("topic read", fleet + "up/+/trial") +
      line("topic write", fleet + "gateway/rollout") +
      (watched_from_home(viewers) ? line("topic write", "homeassistant/sensor/+/+/config") : "") +
      "\n# `aflguard device renew --requests`, where the authority's key is.\n"
      "user authority\n" +
      line("topic readwrite", fleet + "up/+/renewal") + line("topic write", fleet + "down/+/certificate") +
      "\n# Every device: its own topics, and the model.\n" + line("pattern write", fleet + "up/%u/update") +
      line("pattern write", fleet + "up/%u/status") + line("pattern write", fleet + "up/%u/trial") +
      line("pattern write", fleet + "up/%u/renewal") + line("pattern read", fleet + "down/%u/verdict") +
      line("pattern read", fleet + "down/%u/certificate") + line("pattern read", fleet + "model") +
      line("pattern read", fleet + "release/#") +
      "\n# Who has the release key: models for boards, signed with it, and how the fleet takes them.\n" +
      "user " + kReleaseName + "\n" + line("topic write", fleet + "release/#") +
      line("topic read", fleet + "release/#") + line("topic read", fleet + "up/+/status") +
      line("topic read", fleet + "gateway/rollout") +
      "\n# Viewers see how the fleet does, and ask for its past. What the patterns above would allow them, "
      "as "
      "if\n# they were devices, is denied.\n";
  for (const Viewer& viewer : viewers.viewers) {
    text += viewer.revoked ? no_rights(viewer.name) : viewer_rights(fleet, viewer.name);
    if (!viewer.revoked && viewer.name == kHomeAssistant) {
      text += line("topic read", "homeassistant/#") +
              line("topic write", "homeassistant/status");  // says when it comes and goes
    }
  }
  for (const std::string& device : revoked_devices) text += no_rights(device);
  return text;
}

}  // namespace aflguard::fleet
