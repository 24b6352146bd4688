#include "core/base/rfc3339.h"
#include "core/system/child_process.h"
#include "core/system/programs.h"
#include "fleet/doctor/doctor.h"
#include "fleet/view/fleet_watch.h"
#include "fleet/view/trouble.h"
#include "fleet/view/view_text.h"
#include "fleet/view/viewer_choice.h"

namespace aflguard::fleet {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::seconds kConnectTimeout{20};
/// Gateways publish every two seconds by default.
constexpr std::chrono::seconds kGatewayTimeout{12};
constexpr std::chrono::seconds kClockDifference{60};
constexpr double kStaleSeconds = 900;

/// Until metrics come that the broker had not kept; false when they do not.
bool hear_gateway(view::FleetWatch& watch) {
  const auto start = Steady::now();
  while (!watch.was_connected() && Steady::now() - start < kConnectTimeout) {
    watch.listen(Steady::now() + milliseconds(100));
  }
  // What was kept comes first; everything that comes after a moment of silence is news.
  while (watch.was_connected() && Steady::now() - watch.last_retained() < milliseconds(700)) {
    watch.listen(Steady::now() + milliseconds(100));
  }
  const auto before = watch.picture().gateway().heard_at;
  const auto asked = Steady::now();
  while (Steady::now() - asked < kGatewayTimeout) {
    watch.listen(Steady::now() + milliseconds(100));
    if (watch.picture().gateway().heard_at != before) return true;
  }
  return false;
}

void examine_metrics(Findings& findings, const GatewayMetrics& metrics, const Clock& clock) {
  if (metrics.time) {
    const auto ahead = std::chrono::floor<std::chrono::seconds>(*metrics.time - clock.wall());
    if (ahead > kClockDifference || ahead < -kClockDifference) {
      findings.problem("clock-gateway",
                       "the gateway's clock says " + to_rfc3339(*metrics.time) + ", this machine's " +
                           to_rfc3339(clock.wall()),
                       "set the clocks: certificates are judged by them");
    }
  }
  const auto age = metrics.reference_age_seconds;
  if (age && *age > kStaleSeconds && metrics.updates_per_second.value_or(0) > 0) {
    findings.warning("server-update",
                     "the reference update is " +
                         view::short_duration(std::chrono::seconds(static_cast<std::int64_t>(*age))) +
                         " old while updates come in",
                     "lower reference_interval in gateway.toml, or look at the gateway's log");
  } else if (age) {
    findings.ok("server-update", "the reference update is " + view::formatted("%.0f s old", *age));
  }
  const auto free = metrics.store_free_bytes;
  const auto total = metrics.store_total_bytes;
  if (free && total) {
    examine_space(findings, "gateway-disk", static_cast<double>(*free), static_cast<double>(*total),
                  "the gateway's store is");
  }
}

}  // namespace

void examine_gateway(Findings& findings, const FleetFolder& folder, const Clock& clock,
                     const view::BusFactory& connect) {
  const auto held = view::ViewerLease::choose({folder.root.string(), {}, {}}, view::ViewerUse::kShortLook);
  if (!held.ok()) return;
  const auto watch = view::FleetWatch::start(held->identity(), connect);
  if (!watch.ok()) {
    findings.problem("gateway", watch.error().message, "restore it from a backup");
    return;
  }
  const bool heard = hear_gateway(**watch);
  const view::GatewayPicture& gateway = (*watch)->picture().gateway();
  const std::string state(to_string(gateway.status.state));
  const std::string start = "systemctl start aflguard-gateway, then journalctl -u aflguard-gateway";
  if (!heard) {
    const std::string last =
        gateway.metrics.time ? "; it spoke last " + to_rfc3339(*gateway.metrics.time) : "";
    findings.problem("gateway",
                     "the gateway is " +
                         (gateway.status.state == GatewayState::kUnknown ? "not there" : state) +
                         ", and silent" + last,
                     start);
    return;
  }
  if (gateway.status.state == GatewayState::kReady) {
    findings.ok("gateway",
                "the gateway is ready, model version " + std::to_string(gateway.metrics.version.value_or(0)));
  } else {
    findings.problem("gateway", "the gateway is " + state + ": " + gateway.status.message, start);
  }
  examine_metrics(findings, gateway.metrics, clock);
  const auto rows = view::by_trouble((*watch)->picture(), clock.wall());
  const view::FleetTally fleet = view::tally(rows);
  const std::string counts = std::to_string(fleet.devices) + " devices have published, " +
                             std::to_string(fleet.connected) + " are connected";
  if (!rows.empty() && rows.front().trouble.level == view::TroubleLevel::kAlarm) {
    findings.warning("devices", counts + "; worst: " + *rows.front().name + ", " + rows.front().trouble.why,
                     "aflguard monitor shows them; aflguard device revoke shuts one out");
  } else {
    findings.ok("devices", counts);
  }
}

void examine_client(Findings& findings, const std::string& configuration, const Clock& clock) {
  const std::filesystem::path path = std::filesystem::absolute(configuration).lexically_normal();
  const auto client = program_beside_us("aflguard-client");
  const auto outcome = client.ok()
                           ? run_program({client->string(), "--config", path.string(), "--test-config"}, "/")
                           : Result<ProgramOutcome>(client.error());
  if (!outcome.ok()) {
    findings.problem("client-configuration", outcome.error().message, "install aflguard-client on the board");
  } else if (outcome->exit_code != 0) {
    findings.problem("client-configuration", outcome->last_line(),
                     "correct it; aflguard-client --config " + path.string() + " --test-config tries it");
  } else {
    findings.ok("client-configuration", "client: " + outcome->last_line());
  }
  const std::filesystem::path folder = path.parent_path();
  std::error_code error;
  if (std::filesystem::exists(folder / "device.crt", error)) {
    examine_identity(findings, "client-certificate",
                     {folder / "device.crt", folder / "device.key", folder / "ca.crt"}, clock,
                     "aflguard device renew NAME where the authority is, then its bundle to this board");
  }
  examine_disk(findings, "client-disk", folder);
}

}  // namespace aflguard::fleet
