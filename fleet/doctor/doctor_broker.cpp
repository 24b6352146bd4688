#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"
#include "core/system/machine/descriptor_limit.h"
#include "core/telemetry/history_question.h"
#include "core/tls_openssl/tls_diagnosis.h"
#include "core/transport/topics.h"
#include "fleet/broker_openssl/broker_probe.h"
#include "fleet/doctor/doctor.h"
#include "fleet/folder/viewer_identity.h"
#include "fleet/provisioning/broker_reload.h"
#include "fleet/provisioning_openssl/openssl_authority.h"
#include "fleet/view/viewer_choice.h"

namespace aflguard::fleet {
namespace {

using namespace std::chrono_literals;
using std::chrono::system_clock;

constexpr std::chrono::seconds kTimeout{10};
/// Below this, a fleet that grows, or a client that connects without end, comes to the limit.
constexpr std::uint64_t kFewDescriptors = 8192;

Result<TlsIdentity> read_identity(const ViewerIdentity& viewer) {
  TlsIdentity identity;
  TRY(identity.certificate, read_text_file(viewer.certificate(), kMaxPemBytes));
  TRY(identity.private_key, read_text_file(viewer.key(), kMaxPemBytes));
  return identity;
}

/// What OpenSSL's words mean for an operator.
std::string advice_for(const std::string& reason, const ViewerIdentity& viewer) {
  const auto says = [&](const char* part) { return reason.find(part) != std::string::npos; };
  if (says("cannot reach") || says("cannot find")) {
    return "start the broker (systemctl start mosquitto), or correct host and port in fleet.toml";
  }
  if (says("revoked")) return "the identity '" + viewer.name + "' is revoked; aflguard fleet viewer list";
  if (says("expired"))
    return "renew what has ended: aflguard fleet renew broker, aflguard fleet renew " + viewer.name;
  if (says("not yet valid")) return "set the clock of this machine; certificates are judged by it";
  if (says("self-signed") || says("unable to get local issuer") || says("unknown ca")) {
    return "another fleet's broker listens there; compare host and port in fleet.toml";
  }
  if (says("mismatch")) return "the broker's certificate names another host: aflguard fleet renew broker";
  return "the broker's log says more: journalctl -u mosquitto";
}

/// Strangers must not come in; their reasons do not matter.
void examine_strangers(Findings& findings, const ViewerIdentity& viewer, const std::string& authority) {
  const auto anonymous = BrokerProbe::connect(viewer.host, viewer.port, authority, std::nullopt, kTimeout);
  const auto now = system_clock::now();
  auto foreign = OpensslAuthority::create("stranger", now - 1h, now + 1h);
  bool stranger_in = false;
  if (foreign.ok()) {
    const auto credential = foreign->issue({.name = viewer.name,
                                            .use = CertificateUse::kClient,
                                            .alternative_names = {},
                                            .not_before = now - 30min,
                                            .not_after = now + 30min});
    if (credential.ok()) {
      const TlsIdentity stranger{credential->certificate.pem, credential->private_pem};
      stranger_in = BrokerProbe::connect(viewer.host, viewer.port, authority, stranger, kTimeout).ok();
    }
  }
  if (anonymous.ok() || stranger_in) {
    findings.problem("broker-strangers",
                     anonymous.ok() ? "the broker lets clients in that have no certificate"
                                    : "the broker lets clients in whose certificate is of another authority",
                     "run it with the fleet's mosquitto.conf; aflguard fleet refresh writes it again");
  } else {
    findings.ok("broker-strangers", "the broker refuses clients without a certificate of this fleet");
  }
}

/// Publishes where a viewer must not, with empty messages that change nothing.
void examine_writing(Findings& findings, BrokerProbe& probe, const FleetTopics& topics,
                     const std::string& name) {
  const std::string root = topics.model().substr(0, topics.model().size() - std::string("model").size());
  for (const std::string& topic : {root + "doctor/probe", topics.verdict(name), topics.device_status(name),
                                   topics.device_summary(name)}) {
    const auto taken = probe.publish(topic, "");
    if (!taken.ok()) {
      findings.warning(
          "access-list-writing",
          "the broker hangs up on clients that publish what is forbidden (" + taken.error().message + ")",
          "set max_queued_messages in mosquitto.conf as aflguard fleet refresh does");
      return;
    }
    if (*taken) {
      findings.problem(
          "access-list-writing",
          "the broker took a message of '" + name + "' on " + topic + ", where it may not write",
          "the access list is not in force: check acl_file in mosquitto.conf, then aflguard fleet refresh");
      return;
    }
  }
  findings.ok("access-list-writing", "the broker refuses what the access list forbids to write");
}

/// Subscribes to what a viewer must not read, and says something there itself.
void examine_reading(Findings& findings, BrokerProbe& probe, const FleetTopics& topics,
                     const std::string& name) {
  for (const std::string& filter : {topics.model(), topics.all_updates(), topics.question(name)}) {
    if (!probe.subscribe(filter).ok()) return;
  }
  const auto asked = probe.publish(
      topics.question(name),
      to_json(HistoryQuestion{.id = "doctor", .device = {}, .from_ms = 0, .to_ms = 1, .points = 1}));
  if (asked.ok() && !*asked) {
    findings.problem("access-list-asking",
                     "the broker refuses the question for history that a viewer may ask",
                     "aflguard fleet refresh writes the access list again");
    return;
  }
  const auto received = probe.received();
  if (!received.ok()) {
    findings.warning("access-list-reading", "the broker hung up: " + received.error().message,
                     "its log says more: journalctl -u mosquitto");
  } else if (!received->empty()) {
    findings.problem(
        "access-list-reading",
        "the broker lets '" + name + "' read " + received->front() + ", which it may not",
        "the access list is not in force: check acl_file in mosquitto.conf, then aflguard fleet refresh");
  } else {
    findings.ok("access-list-reading", "the broker keeps back what the access list forbids to read");
  }
}

void examine_limits(Findings& findings, const BrokerProbe& probe, const FleetSettings& settings) {
  const auto largest = probe.largest_packet();
  if (!largest) {
    findings.ok("broker-message-limit", "the broker names no limit for messages");
  } else if (*largest < settings.message_bytes) {
    findings.problem("broker-message-limit",
                     "the broker takes packets up to " + std::to_string(*largest) +
                         " bytes, the fleet needs " + std::to_string(settings.message_bytes),
                     "aflguard fleet refresh, then restart the broker: the limit is read at its start");
  } else {
    findings.ok("broker-message-limit",
                "the broker takes packets up to " + std::to_string(*largest) + " bytes");
  }
}

void examine_qos(Findings& findings, const BrokerProbe& probe) {
  if (probe.highest_qos() < 2) {
    findings.ok("broker-qos", "the broker takes no messages of QoS 2, which it would have to keep");
    return;
  }
  findings.warning(
      "broker-qos",
      "the broker takes messages of QoS 2: one device can fill its memory with some that it "
      "never releases",
      "aflguard fleet refresh writes max_qos, which Mosquitto 2.0.11 takes at its start and forgets "
      "when it reads its configuration again, as after every change of devices: restart it when "
      "that suits");
}

/// A broker without descriptors locks newcomers out until one of its connections ends.
void examine_descriptors(Findings& findings, const FleetFolder& folder) {
  const auto process = broker_process(folder);
  const auto limit = process ? descriptor_limit_of(*process) : std::nullopt;
  if (!limit) return;  // it runs elsewhere, or as another user
  const std::string text = "the broker may have " + std::to_string(*limit) + " connections and files open";
  if (*limit >= kFewDescriptors) {
    findings.ok("broker-descriptors", text);
  } else {
    findings.warning("broker-descriptors", text + ": so many silent connections lock newcomers out",
                     "start it by aflguard-broker.service (LimitNOFILE), or after ulimit -n 65536");
  }
}

}  // namespace

bool examine_broker(Findings& findings, const FleetFolder& folder, const FleetSettings& settings) {
  const auto held = view::ViewerLease::choose({folder.root.string(), {}, {}}, view::ViewerUse::kShortLook);
  const auto topics = FleetTopics::create(settings.name);
  if (!held.ok() || !topics.ok()) {
    findings.problem("broker", held.ok() ? topics.error().message : held.error().message,
                     "the broker was not looked at; run as the user who owns the fleet's folder");
    return false;
  }
  const ViewerIdentity& viewer = held->identity();
  const auto identity = read_identity(viewer);
  const auto authority = read_text_file(viewer.authority(), kMaxPemBytes);
  if (!identity.ok() || !authority.ok()) {
    findings.problem("broker", identity.ok() ? authority.error().message : identity.error().message,
                     "the broker was not looked at; run as the user who owns the fleet's folder");
    return false;
  }
  const auto probe = BrokerProbe::connect(viewer.host, viewer.port, *authority, *identity, kTimeout);
  const std::string place = viewer.host + ":" + std::to_string(viewer.port);
  if (!probe.ok()) {
    const std::string more =
        tls_diagnosis(viewer.host, viewer.port, {viewer.authority(), viewer.certificate(), viewer.key()});
    const bool adds = !more.empty() && more != probe.error().message;
    const std::string reason = probe.error().message + (adds ? "; " + more : "");
    findings.problem("broker", "no session at the broker " + place + ": " + reason,
                     advice_for(reason, viewer));
    return false;
  }
  findings.ok("broker", "the broker at " + place + " is this fleet's, and lets '" + viewer.name + "' in");
  examine_limits(findings, **probe, settings);
  examine_qos(findings, **probe);
  examine_descriptors(findings, folder);
  examine_writing(findings, **probe, *topics, viewer.name);
  examine_reading(findings, **probe, *topics, viewer.name);
  examine_strangers(findings, viewer, *authority);
  return true;
}

}  // namespace aflguard::fleet
