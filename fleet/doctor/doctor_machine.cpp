#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/rfc3339.h"
#include "core/base/version.h"
#include "core/identity/pem_limit.h"
#include "core/learning_onnx/onnx_runtime.h"
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/machine/disk_space.h"
#include "core/system/programs.h"
#include "fleet/doctor/doctor.h"
#include "fleet/provisioning_openssl/certificate_facts.h"
#include "fleet/view/view_text.h"

namespace aflguard::fleet {
namespace fs = std::filesystem;
namespace {

using std::chrono::system_clock;

constexpr double kLittleShare = 0.05;
constexpr double kVeryLittleShare = 0.01;
constexpr double kLittleBytes = 1e9;
constexpr double kVeryLittleBytes = 1e8;

void examine_programs(Findings& findings, bool with_fleet) {
  std::string present = std::string("aflguard ") + kVersion;
  std::error_code error;
  for (const char* name : {"aflguard-gateway", "aflguard-client"}) {
    if (program_beside_us(name).ok()) present += std::string(", ") + name;
  }
  findings.ok("programs", "programs: " + present);
  if (with_fleet && !program_beside_us("aflguard-gateway").ok()) {
    findings.warning("program-gateway", "aflguard-gateway is not beside this program",
                     "install it where the gateway runs");
  }
  const auto broker = run_program({"mosquitto", "-h"}, "/");
  if (broker.ok()) {
    findings.ok("program-mosquitto", "broker: " + broker->output.substr(0, broker->output.find('\n')));
  } else if (fs::exists("/usr/sbin/mosquitto", error)) {
    findings.ok("program-mosquitto", "broker: /usr/sbin/mosquitto");
  } else if (with_fleet) {
    findings.warning("program-mosquitto", "the broker mosquitto is not installed here",
                     "apt-get install mosquitto, where the broker runs");
  } else {
    findings.ok("program-mosquitto",
                "broker: mosquitto is not installed; only the machine with the broker needs it");
  }
}

void examine_runtime(Findings& findings) {
  const auto runtime = OnnxRuntime::load();
  if (runtime.ok()) {
    findings.ok("onnx-runtime", "ONNX Runtime " + (*runtime)->version() + " (" + (*runtime)->path() + ")");
  } else {
    findings.problem("onnx-runtime", "ONNX Runtime does not load: " + runtime.error().message,
                     "install the package again, or name a library with AFLGUARD_ONNXRUNTIME");
  }
}

/// A clock can be wrong unnoticed; that it is earlier than this program cannot.
void examine_clock(Findings& findings, const Clock& clock) {
  struct stat facts {};
  const auto now = clock.wall();
  if (::stat("/proc/self/exe", &facts) == 0 &&
      now + std::chrono::hours(24) < system_clock::from_time_t(facts.st_mtime)) {
    findings.problem("clock", "the clock says " + to_rfc3339(now) + ", which is before this program was made",
                     "set the clock; systemctl enable --now systemd-timesyncd keeps it right");
    return;
  }
  findings.ok("clock", "the clock says " + to_rfc3339(now));
}

std::string mode_text(mode_t mode) {
  return view::formatted("%04.0f",
                         static_cast<double>((mode >> 6 & 7) * 100 + (mode >> 3 & 7) * 10 + (mode & 7)));
}

/// False when there is nothing more to be said about that key.
bool examine_key_file(Findings& findings, const std::string& check, const fs::path& key) {
  struct stat facts {};
  if (::stat(key.c_str(), &facts) != 0) {
    findings.problem(check, key.string() + " is missing", "restore it from a backup");
    return false;
  }
  if ((facts.st_mode & 077) != 0) {
    findings.problem(check,
                     key.string() + " has mode " + mode_text(facts.st_mode) + ": others can read the key",
                     "chmod 600 " + key.string());
    return false;
  }
  if (::access(key.c_str(), R_OK) != 0) {
    findings.warning(check, key.string() + " is not readable by this user", "run as the user who owns it");
    return false;
  }
  return true;
}

/// False when the certificate is not valid now.
bool examine_validity(Findings& findings, const std::string& check, const fs::path& certificate,
                      const CertificateFacts& facts, const Clock& clock, const std::string& how_to_renew) {
  const auto now = clock.wall();
  if (now < facts.not_before) {
    findings.problem(check,
                     certificate.string() + " begins " + to_rfc3339(facts.not_before) + ", the clock says " +
                         to_rfc3339(now),
                     "set the clock of the machine that made it, or of this one");
    return false;
  }
  if (now > facts.not_after) {
    findings.problem(check, certificate.string() + " ended " + to_rfc3339(facts.not_after), how_to_renew);
    return false;
  }
  return true;
}

}  // namespace

void examine_disk(Findings& findings, const std::string& check, const fs::path& path) {
  if (const auto space = disk_space(path)) {
    examine_space(findings, check, static_cast<double>(space->free_bytes),
                  static_cast<double>(space->total_bytes), path.string() + " is");
  }
}

void examine_space(Findings& findings, const std::string& check, double free_bytes, double total_bytes,
                   const std::string& what_is_there) {
  if (total_bytes <= 0) return;
  const double share = free_bytes / total_bytes;
  const std::string found = view::byte_size(free_bytes) + " of " + view::byte_size(total_bytes) +
                            " are free where " + what_is_there;
  if (share < kVeryLittleShare || free_bytes < kVeryLittleBytes) {
    findings.problem(check, found, "free space: what cannot be stored is not answered");
  } else if (share < kLittleShare || free_bytes < kLittleBytes) {
    findings.warning(check, found, "free space before it is full");
  } else {
    findings.ok(check, found);
  }
}

void examine_identity(Findings& findings, const std::string& check, const IdentityFiles& files,
                      const Clock& clock, const std::string& how_to_renew) {
  const auto pem = read_text_file(files.certificate, kMaxPemBytes);
  const auto authority_pem = read_text_file(files.authority, kMaxPemBytes);
  if (!pem.ok() || !authority_pem.ok()) {
    findings.problem(check, (pem.ok() ? authority_pem : pem).error().message, "restore it from a backup");
    return;
  }
  const auto facts = read_certificate_facts(*pem, *authority_pem);
  if (!facts.ok()) {
    findings.problem(check, files.certificate.string() + ": " + facts.error().message, how_to_renew);
    return;
  }
  if (!facts->of_authority) {
    findings.problem(check,
                     files.certificate.string() + " is not of the authority in " + files.authority.string(),
                     "one of the two is another fleet's; " + how_to_renew);
    return;
  }
  if (!examine_validity(findings, check, files.certificate, *facts, clock, how_to_renew)) return;
  if (!files.key.empty()) {
    if (!examine_key_file(findings, check, files.key)) return;
    const auto secret = read_text_file(files.key, kMaxPemBytes);
    if (!secret.ok() || !belong_together(*pem, *secret)) {
      findings.problem(check, files.key.string() + " is not the key of " + files.certificate.string(),
                       "restore both from one backup; " + how_to_renew);
      return;
    }
  }
  const std::string found = "certificate of " + facts->name + " ends " + to_rfc3339(facts->not_after);
  if (facts->not_after - clock.wall() < kRenewSoon) {
    findings.warning(check, found, how_to_renew);
  } else {
    findings.ok(check, found);
  }
}

void examine_machine(Findings& findings, const Clock& clock, bool with_fleet) {
  examine_programs(findings, with_fleet);
  examine_runtime(findings);
  examine_clock(findings, clock);
}

}  // namespace aflguard::fleet
