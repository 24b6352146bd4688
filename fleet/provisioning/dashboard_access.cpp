#include "fleet/provisioning/dashboard_access.h"

#include <algorithm>

#include "core/system/atomic_file.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kMaxKeyBytes = 256;

std::string file_line(const std::string& key, const std::string& value) {
  return key + " " + value + "\n";
}

bool is_key(const std::string& text) {
  return text.size() >= 16 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                  c == '_';
         });
}

Result<std::string> read_key(const fs::path& path) {
  TRY(std::string key, read_text_file(path, kMaxKeyBytes));
  while (!key.empty() && key.back() == '\n') key.pop_back();
  if (!is_key(key)) {
    return corrupt(path.string() +
                   " is not a dashboard key; remove it, and aflguard fleet refresh makes another");
  }
  return key;
}

Status write_key(const fs::path& path, const std::string& key) {
  std::error_code error;
  fs::create_directory(path.parent_path(), error);
  return write_file_atomically(path, key + "\n", FileAccess::kOwnerOnly);
}

Status write_passwords(const FleetFolder& folder, const std::string& key, CertificateAuthority& authority) {
  std::string text;
  for (int seat = 1; seat <= kDashboardSeats; ++seat) {
    TRY(const std::string verifier, authority.password_verifier(key));
    text += "dashboard~" + std::to_string(seat) + ":" + verifier + "\n";
  }
  return write_file_atomically(folder.dashboard_passwords(), text, FileAccess::kOwnerOnly);
}

}  // namespace

std::string dashboard_listener_host(const FleetSettings& settings) {
  const bool everywhere = settings.dashboard_host == "0.0.0.0" || settings.dashboard_host == "::";
  return everywhere ? settings.broker_host : settings.dashboard_host;
}

std::string dashboard_listener(const FleetSettings& settings, const FleetFolder& folder) {
  return "# The dashboard's pages: WebSockets over TLS. Names and client ids come from the password file, "
         "which\n"
         "# the certificates' names are not in; the access list lets them read, and ask for history.\n" +
         file_line("listener", std::to_string(settings.dashboard_port) + " " + settings.dashboard_host) +
         file_line("protocol", "websockets") + file_line("allow_anonymous", "false") +
         file_line("certfile", (folder.broker() / "broker.crt").string()) +
         file_line("keyfile", (folder.broker() / "broker.key").string()) +
         file_line("password_file", folder.dashboard_passwords().string()) +
         file_line("use_username_as_clientid", "true") +
         file_line("acl_file", folder.dashboard_access_list().string()) + file_line("max_qos", "1");
}

std::string dashboard_access_list(const FleetSettings& settings) {
  const std::string fleet = "aflguard/v1/" + settings.name + "/";
  std::string text = "# Made by `aflguard fleet ...`: changes here are lost.\n";
  for (const char* topic : {"up/+/status", "gateway/status", "gateway/metrics", "gateway/devices/+", "events",
                            "tell/dashboard/history"}) {
    text += file_line("pattern read", fleet + topic);
  }
  return text + file_line("pattern write", fleet + "ask/dashboard/history");
}

Status write_dashboard_access(const FleetSettings& settings, const FleetFolder& folder,
                              CertificateAuthority& authority) {
  if (settings.dashboard_port == 0) return {};
  auto key = read_key(folder.dashboard_key());
  if (!key.ok() && key.error().kind == ErrorKind::kNotFound) {
    key = authority.new_password();
    if (key.ok()) TRY_STATUS(write_key(folder.dashboard_key(), *key));
  }
  if (!key.ok()) return key.error();
  TRY_STATUS(write_passwords(folder, *key, authority));
  return write_file_atomically(folder.dashboard_access_list(), dashboard_access_list(settings));
}

Status renew_dashboard_key(const FleetSettings& settings, const FleetFolder& folder,
                           CertificateAuthority& authority) {
  TRY([[maybe_unused]] const std::string known, read_dashboard_key(settings, folder));
  TRY(const std::string key, authority.new_password());
  TRY_STATUS(write_key(folder.dashboard_key(), key));
  return write_passwords(folder, key, authority);
}

Result<std::string> read_dashboard_key(const FleetSettings& settings, const FleetFolder& folder) {
  if (settings.dashboard_port == 0) {
    return not_found("the fleet '" + settings.name +
                     "' has no listener for browsers; set [dashboard] port = 8884 in " +
                     folder.settings().string() + ", run aflguard fleet refresh, and restart the broker");
  }
  auto key = read_key(folder.dashboard_key());
  if (key.ok() || key.error().kind != ErrorKind::kNotFound) return key;
  return not_found("there is no " + folder.dashboard_key().string() +
                   "; aflguard fleet refresh makes it; restart the broker then");
}

}  // namespace aflguard::fleet
