#include "core/envelope/renewal_message.h"
#include "core/identity_mbedtls/mbedtls_certificate.h"
#include "core/identity_openssl/openssl_verifier.h"
#include "core/system/atomic_file.h"
#include "fleet/provisioning_openssl/authority_files.h"
#include "fleet/renewal/renewal_answer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
using namespace aflguard::testing;

namespace {

class MovedClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::system_clock::time_point wall() const override { return now; }
  [[nodiscard]] std::chrono::steady_clock::time_point steady() const override { return {}; }
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();
};

/// A fleet with the devices pi-1 and pi-2, and what they send.
struct RenewalOffice {
  RenewalOffice() {
    ASSERT_OK(create_fleet(root, settings, authority, std::nullopt, clock));
    fleet.emplace(Fleet::open(root).value());
    for (const char* device : {"pi-1", "pi-2"}) {
      ASSERT_OK(fleet->add_device({device, std::nullopt, std::nullopt}, authority, clock));
      keys.emplace(device, signer_of(device));
    }
  }
  [[nodiscard]] MbedtlsSigner signer_of(const std::string& device) const {
    return MbedtlsSigner::from_pem(read_text_file(fleet->folder().device(device) / "device.key").value())
        .value();
  }
  /// Signed with the key of `by`, for the key `wanted`.
  [[nodiscard]] Bytes request(const std::string& device, const std::string& by, const MbedtlsSigner& wanted) {
    return seal({"greenhouse", device, clock.now, make_certificate_request(wanted, device).value()}, by);
  }
  [[nodiscard]] Bytes seal(const RenewalMessage& message, const std::string& by) {
    return EnvelopeSealer(keys.at(by)).seal(encode(message).value()).value().release();
  }
  [[nodiscard]] Admitted<std::string> answer(const std::string& device, Bytes envelope) {
    return answer_renewal(*fleet, device, std::move(envelope), authority, verifier, clock);
  }
  void refused(RefusalReason reason, const std::string& text, const Admitted<std::string>& answered) const {
    TEST_ASSERT_FALSE(answered.ok());
    TEST_ASSERT_EQUAL_INT(static_cast<int>(reason), static_cast<int>(answered.error().reason));
    ASSERT_CONTAINS(answered.error().message, text);
  }
  [[nodiscard]] std::size_t keys_of(const std::string& device) const {
    return fleet->book().find(device).value()->keys.size();
  }

  TemporaryFolder folder;
  MovedClock clock;
  OpensslAuthority authority =
      OpensslAuthority::create("f", clock.now - kCertificateBackdating, clock.now + kAuthorityLifetime)
          .value();
  FleetSettings settings{.name = "greenhouse"};
  std::filesystem::path root = folder / "fleet";
  std::optional<Fleet> fleet;
  std::map<std::string, MbedtlsSigner> keys;
  OpensslVerifier verifier;
  MbedtlsSigner fresh = MbedtlsSigner::generate().value();
};

}  // namespace

TEST("A request that both keys have signed is answered; one whose answer was lost is answered again") {
  RenewalOffice office;
  const Bytes request = office.request("pi-1", "pi-1", office.fresh);
  const auto certificate = office.answer("pi-1", request);
  TEST_ASSERT_TRUE(certificate.ok());
  TEST_ASSERT_TRUE(read_certificate_pem(*certificate)->public_key == office.fresh.public_key());
  TEST_ASSERT_EQUAL_STRING("pi-1", read_certificate_pem(*certificate)->common_name.c_str());
  TEST_ASSERT_EQUAL_size_t(2, office.keys_of("pi-1"));  // the former one is good until it ends
  const auto again = office.answer("pi-1", request);
  TEST_ASSERT_TRUE(again.ok());
  TEST_ASSERT_EQUAL_STRING(certificate->c_str(), again->c_str());
  TEST_ASSERT_EQUAL_size_t(2, office.keys_of("pi-1"));
}

TEST("A stolen board cannot renew once it is revoked, nor can a device that was never enrolled") {
  RenewalOffice office;
  const Bytes request = office.request("pi-1", "pi-1", office.fresh);
  ASSERT_OK(office.fleet->revoke_device("pi-1", {}, office.authority, office.clock));
  office.refused(RefusalReason::kRevoked, "'pi-1': it is revoked", office.answer("pi-1", request));
  office.refused(RefusalReason::kUnknownKey, "'pi-9': it is not enrolled", office.answer("pi-9", request));
}

TEST("A paused device is not renewed until it is resumed") {
  RenewalOffice office;
  const Bytes request = office.request("pi-1", "pi-1", office.fresh);
  ASSERT_OK(office.fleet->pause_devices({"pi-1"}, true));
  office.refused(RefusalReason::kPaused, "'pi-1': it is paused", office.answer("pi-1", request));
  ASSERT_OK(office.fleet->pause_devices({"pi-1"}, false));
  TEST_ASSERT_TRUE(office.answer("pi-1", request).ok());
}

TEST("Another device's key, an ended one, or one that nobody knows signs no request") {
  RenewalOffice office;
  office.refused(RefusalReason::kUnknownKey, "no valid key of this device",
                 office.answer("pi-1", office.request("pi-1", "pi-2", office.fresh)));
  office.keys.emplace("stranger", MbedtlsSigner::generate().value());
  office.refused(RefusalReason::kUnknownKey, "no valid key of this device",
                 office.answer("pi-1", office.request("pi-1", "stranger", office.fresh)));
  office.clock.now += std::chrono::days(731);
  office.refused(RefusalReason::kUnknownKey, "no valid key of this device",
                 office.answer("pi-1", office.request("pi-1", "pi-1", office.fresh)));
  TEST_ASSERT_EQUAL_size_t(1, office.keys_of("pi-1"));
}

TEST("A request of another fleet, of another device, or of long ago is refused") {
  RenewalOffice office;
  const std::string csr = make_certificate_request(office.fresh, "pi-1").value();
  office.refused(RefusalReason::kForeignSender, "of fleet 'orchard'",
                 office.answer("pi-1", office.seal({"orchard", "pi-1", office.clock.now, csr}, "pi-1")));
  office.refused(RefusalReason::kForeignSender, "of device 'pi-2'",
                 office.answer("pi-1", office.seal({"greenhouse", "pi-2", office.clock.now, csr}, "pi-1")));
  office.refused(
      RefusalReason::kReplayed, "the request was made at",
      office.answer(
          "pi-1",
          office.seal({"greenhouse", "pi-1", office.clock.now - std::chrono::days(401), csr}, "pi-1")));
}

TEST("A request for a key that was replaced since, for another's key, or for none is refused") {
  RenewalOffice office;
  const Bytes first = office.request("pi-1", "pi-1", office.fresh);
  TEST_ASSERT_TRUE(office.answer("pi-1", first).ok());
  const MbedtlsSigner second = MbedtlsSigner::generate().value();
  TEST_ASSERT_TRUE(office.answer("pi-1", office.request("pi-1", "pi-1", second)).ok());
  office.refused(RefusalReason::kReplayed, "was replaced since", office.answer("pi-1", first));
  office.refused(RefusalReason::kMalformed, "belongs to device 'pi-2'",
                 office.answer("pi-1", office.request("pi-1", "pi-1", office.keys.at("pi-2"))));
  office.refused(
      RefusalReason::kMalformed, "not a certificate signing request",
      office.answer("pi-1", office.seal({"greenhouse", "pi-1", office.clock.now, "rubbish"}, "pi-1")));
  office.refused(RefusalReason::kMalformed, "", office.answer("pi-1", Bytes(100)));
  TEST_ASSERT_EQUAL_size_t(3, office.keys_of("pi-1"));
}
