#include <algorithm>
#include <map>
#include <sstream>
#include <sys/stat.h>

#include "core/base/rfc3339.h"
#include "core/book/device_book.h"
#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "fleet/doctor/doctor.h"
#include "fleet/provisioning/broker_files.h"
#include "fleet/provisioning/provisioning.h"
#include "fleet/provisioning_openssl/certificate_facts.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

constexpr std::chrono::minutes kFuture{15};

constexpr std::size_t kShownNames = 120;  // letters

/// What the checks need of the device book.
struct BookSummary {
  std::size_t active = 0;
  std::vector<std::string> revoked;  ///< names
  std::size_t revoked_keys = 0;      ///< with a certificate that has not ended
  std::string ended;                 ///< names of devices whose certificates have, as many as are shown
  std::string ending;                ///< within a month
};

/// Reads the whole book, and with it checks every row.
Result<BookSummary> summarise_book(const fs::path& path, const Clock& clock) {
  TRY(auto book, DeviceBook::open_to_read(path));
  TRY_STATUS(book.check_content());
  BookSummary summary;
  const auto name = [](std::string& names, const Device& device) {
    if (names.size() <= kShownNames) names += " " + device.name;
  };
  TRY_STATUS(book.each([&](const Device& device) -> Status {
    std::chrono::system_clock::time_point end{};
    for (const DeviceKey& key : device.keys) {
      end = std::max(end, key.not_after);
      if (device.revoked) summary.revoked_keys += key.not_after > clock.wall();
    }
    if (device.revoked) {
      summary.revoked.push_back(device.name);
      return {};
    }
    ++summary.active;
    if (end < clock.wall()) {
      name(summary.ended, device);
    } else if (end - clock.wall() < kRenewSoon) {
      name(summary.ending, device);
    }
    return {};
  }));
  return summary;
}

using Lines = std::multimap<std::string, std::string>;

/// Mosquitto's configuration as keys and values.
Lines configuration_lines(const std::string& text) {
  Lines lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto space = line.find(' ');
    lines.emplace(line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1));
  }
  return lines;
}

/// What is missing or other than expected; the user who runs the broker may differ.
std::string difference(const Lines& expected, const Lines& found) {
  for (const auto& [key, value] : expected) {
    if (key == "user") continue;
    const auto [first, last] = found.equal_range(key);
    const bool same =
        std::any_of(first, last, [&, wanted = value](const auto& entry) { return entry.second == wanted; });
    if (same) continue;
    return first == last ? key + " is missing, expected " + value
                         : key + " is " + first->second + ", expected " + value;
  }
  // The broker takes the last of a repeated key.
  for (const auto& [key, value] : found) {
    const auto [first, last] = expected.equal_range(key);
    const bool wanted =
        std::any_of(first, last, [&, present = value](const auto& entry) { return entry.second == present; });
    if (key != "user" && !wanted) return key + " " + value + " is not expected";
  }
  return {};
}

void examine_configuration(Findings& findings, const FleetFolder& folder, const FleetSettings& settings) {
  const fs::path path = folder.broker() / "mosquitto.conf";
  const auto found = read_text_file(path, kMaxPemBytes);
  const auto expected = mosquitto_configuration(settings, folder, current_user_name());
  if (!found.ok() || !expected.ok()) {
    findings.problem("broker-configuration", (found.ok() ? expected : found).error().message,
                     "aflguard fleet refresh writes it again");
    return;
  }
  const std::string differs = difference(configuration_lines(*expected), configuration_lines(*found));
  if (differs.empty()) {
    findings.ok("broker-configuration",
                "broker configuration: packets up to " + std::to_string(settings.message_bytes) +
                    " bytes and more, queues up to " + std::to_string(settings.queue_bytes) +
                    " bytes, persistence, TLS 1.3 and access list are as fleet.toml wants");
  } else {
    findings.problem("broker-configuration", path.string() + ": " + differs,
                     "aflguard fleet refresh writes it again from fleet.toml; then restart the broker");
  }
}

void examine_access_list(Findings& findings, const FleetFolder& folder, const FleetSettings& settings,
                         const BookSummary& book, const ViewerBook& viewers) {
  const auto list = read_text_file(folder.access_list(), std::uint64_t{1} << 28);
  if (list.ok() && *list == broker_access_list(settings, book.revoked, viewers)) {
    findings.ok("access-list", "the access list is that of the device book");
  } else {
    findings.problem("access-list",
                     list.ok() ? folder.access_list().string() + " is not what the device book asks for"
                               : list.error().message,
                     "aflguard fleet refresh writes it again and tells the broker");
  }
}

void examine_revocations(Findings& findings, const FleetFolder& folder, const BookSummary& book,
                         const Clock& clock) {
  const auto list = read_text_file(folder.revocation_list(), std::uint64_t{1} << 28);
  const auto authority = read_text_file(folder.broker() / "ca.crt", kMaxPemBytes);
  const std::string advice = "aflguard fleet refresh writes it again and tells the broker";
  if (!list.ok() || !authority.ok()) {
    findings.problem("revocation-list", (list.ok() ? authority : list).error().message, advice);
    return;
  }
  const auto facts = read_revocation_facts(*list, *authority);
  if (!facts.ok() || !facts->of_authority) {
    findings.problem("revocation-list",
                     folder.revocation_list().string() + ": " +
                         (facts.ok() ? "it is not of this fleet's authority" : facts.error().message),
                     advice + "; until then Mosquitto lets revoked boards in");
    return;
  }
  if (clock.wall() > facts->next) {
    findings.problem("revocation-list", "the revocation list ended " + to_rfc3339(facts->next), advice);
    return;
  }
  if (facts->revoked < book.revoked_keys) {
    findings.problem("revocation-list",
                     "the revocation list has " + std::to_string(facts->revoked) +
                         " certificates, the device book " + std::to_string(book.revoked_keys) +
                         " revoked ones",
                     advice);
    return;
  }
  findings.ok("revocation-list", "revocation list: " + std::to_string(facts->revoked) + " certificates, of " +
                                     to_rfc3339(facts->made));
}

void examine_identities(Findings& findings, const FleetFolder& folder, const ViewerBook& viewers,
                        const Clock& clock) {
  const std::string fleet = folder.root.string();
  std::error_code error;
  if (fs::exists(folder.authority() / "ca.key", error)) {
    const auto place = folder.authority();
    examine_identity(findings, "certificate-authority",
                     {place / "ca.crt", place / "ca.key", place / "ca.crt"}, clock,
                     "a fleet's authority cannot be renewed: make a new fleet and enrol the boards again");
  }
  for (const std::string name : {"broker", "gateway"}) {
    const fs::path place = name == "broker" ? folder.broker() : folder.gateway();
    examine_identity(findings, "certificate-" + name,
                     {place / (name + ".crt"), place / (name + ".key"), place / "ca.crt"}, clock,
                     "aflguard fleet renew " + name + " --fleet " + fleet);
  }
  for (const Viewer& viewer : viewers.viewers) {
    if (viewer.revoked) continue;
    const fs::path place = folder.viewer(viewer.name);
    examine_identity(findings, "certificate-" + viewer.name,
                     {place / (viewer.name + ".crt"), place / (viewer.name + ".key"), place / "ca.crt"},
                     clock, "aflguard fleet renew " + viewer.name + " --fleet " + fleet);
  }
  for (const std::string_view name : kFleetViewers) {
    if (viewers.find(name) == nullptr) {
      findings.warning("viewer-" + std::string(name), "the fleet has no viewer '" + std::string(name) + "'",
                       "aflguard fleet refresh adds it");
    }
  }
}

void examine_devices(Findings& findings, const BookSummary& book) {
  const auto shorten = [](const std::string& names) {
    return names.size() > kShownNames ? names.substr(0, kShownNames) + " ..." : names;
  };
  const std::string& ended = book.ended;
  const std::string& ending = book.ending;
  const std::string advice = "aflguard device renew NAME, then its bundle to the board";
  if (!ended.empty())
    findings.problem("certificate-devices", "certificates of devices have ended:" + shorten(ended), advice);
  if (!ending.empty()) {
    findings.warning("certificate-devices", "certificates of devices end within a month:" + shorten(ending),
                     advice);
  }
  if (ended.empty() && ending.empty()) {
    findings.ok("certificate-devices",
                std::to_string(book.active) + " devices, every certificate lasts another month");
  }
}

/// Files that were written tomorrow: the clock was wrong then, or is now.
void examine_file_times(Findings& findings, const FleetFolder& folder, const Clock& clock) {
  for (const fs::path& path :
       {folder.settings(), folder.device_book(), folder.access_list(), folder.revocation_list()}) {
    struct stat facts {};
    if (::stat(path.c_str(), &facts) != 0) continue;
    const auto written = std::chrono::system_clock::from_time_t(facts.st_mtime);
    if (written > clock.wall() + kFuture) {
      findings.problem("clock-files",
                       path.string() + " was written " + to_rfc3339(written) + ", the clock says " +
                           to_rfc3339(clock.wall()),
                       "set the clock: certificates are judged by it");
      return;
    }
  }
}

}  // namespace

bool examine_files(Findings& findings, const FleetFolder& folder, const Clock& clock) {
  const auto settings = read_fleet_settings(folder.settings());
  if (!settings.ok()) {
    findings.problem("fleet", settings.error().message,
                     "--fleet names a folder that aflguard fleet init made");
    return false;
  }
  const auto book = summarise_book(folder.device_book(), clock);
  const auto viewers = read_viewer_book(folder.viewer_book());
  if (!book.ok() || !viewers.ok()) {
    findings.problem("fleet", book.ok() ? viewers.error().message : book.error().message,
                     "restore it from a backup");
    return false;
  }
  findings.ok("fleet", "fleet '" + settings->name + "', broker at " + settings->broker_host + ":" +
                           std::to_string(settings->broker_port));
  struct stat facts {};
  if (::stat(folder.authority().c_str(), &facts) == 0 && (facts.st_mode & 077) != 0) {
    findings.problem("permissions-authority", folder.authority().string() + " is open to others",
                     "chmod 700 " + folder.authority().string());
  }
  examine_identities(findings, folder, *viewers, clock);
  examine_devices(findings, *book);
  examine_revocations(findings, folder, *book, clock);
  examine_access_list(findings, folder, *settings, *book, *viewers);
  examine_configuration(findings, folder, *settings);
  examine_file_times(findings, folder, clock);
  examine_disk(findings, "disk", folder.root);
  return true;
}

}  // namespace aflguard::fleet
