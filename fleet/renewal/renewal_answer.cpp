#include "fleet/renewal/renewal_answer.h"

#include "core/base/rfc3339.h"
#include "core/envelope/renewal_message.h"
#include "core/identity/pem_limit.h"
#include "core/system/atomic_file.h"

namespace aflguard::fleet {
namespace {

/// Clocks of boards are late, and the operator may take days to answer; a request that is older was made for
/// a certificate that has ended, or is a copy that was kept.
constexpr std::chrono::days kLongestWait{400};

Refusal refused(RefusalReason reason, const std::string& device, const std::string& why) {
  return refuse(reason, "device '" + device + "': " + why);
}

Admitted<RenewalMessage> open_request(const Device& known, Bytes envelope, const Verifier& verifier,
                                      const Clock& clock) {
  KeyTable keys;
  for (const DeviceKey& key : known.keys) {
    if (clock.wall() < key.not_after) TRY_STATUS(keys.add(known.name, key.public_key));
  }
  TRY(UnverifiedEnvelope unverified, UnverifiedEnvelope::parse(std::move(envelope), kMaxRenewalBytes));
  const EnvelopeOpener opener(keys, verifier);
  auto opened = opener.open(std::move(unverified));
  if (!opened.ok()) {
    return refused(opened.error().reason, known.name,
                   "no valid key of this device has signed the request (" + opened.error().message + ")");
  }
  return decode_renewal(*opened);
}

}  // namespace

Admitted<std::string> answer_renewal(Fleet& fleet, const std::string& device, Bytes envelope,
                                     CertificateAuthority& authority, const Verifier& verifier,
                                     const Clock& clock) {
  TRY(const std::optional<Device> known, fleet.book().find(device));
  if (!known) return refused(RefusalReason::kUnknownKey, device, "it is not enrolled");
  if (known->revoked) return refused(RefusalReason::kRevoked, device, "it is revoked");
  TRY(const NameList paused, fleet.paused());
  if (paused.contains(device)) return refused(RefusalReason::kPaused, device, "it is paused");
  TRY(const RenewalMessage request, open_request(*known, std::move(envelope), verifier, clock));
  if (request.fleet != fleet.settings().name || request.device != device) {
    return refused(RefusalReason::kForeignSender, device,
                   "the request is of device '" + request.device + "' of fleet '" + request.fleet + "'");
  }
  if (clock.wall() - request.time > kLongestWait) {
    return refused(RefusalReason::kReplayed, device, "the request was made at " + to_rfc3339(request.time));
  }
  auto asked = authority.requested_key(request.request, device);
  if (!asked.ok()) return refused(RefusalReason::kMalformed, device, asked.error().message);
  const auto certificate_file = fleet.folder().device(device) / "device.crt";
  for (const DeviceKey& key : known->keys) {
    if (key.public_key != *asked) continue;
    if (&key != &known->keys.back()) {
      return refused(RefusalReason::kReplayed, device, "the request asks for a key that was replaced since");
    }
    TRY(std::string again, read_text_file(certificate_file, kMaxPemBytes));
    return again;
  }
  const Status renewed = fleet.renew_device({device, request.request, std::nullopt}, authority, clock);
  if (!renewed.ok()) return refused(RefusalReason::kMalformed, device, renewed.error().message);
  TRY(std::string certificate, read_text_file(certificate_file, kMaxPemBytes));
  return certificate;
}

}  // namespace aflguard::fleet
