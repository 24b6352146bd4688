#include "edge_client/identity.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

const auto kNow = std::chrono::system_clock::from_time_t(1'800'000'000);

Certificate sample() {
  Certificate certificate;
  certificate.common_name = "pi-1";
  certificate.public_key[0] = 4;
  certificate.not_before = kNow - 24h;
  certificate.not_after = kNow + 24h;
  return certificate;
}

}  // namespace

TEST("Certificate, key and device must belong together") {
  const Certificate certificate = sample();
  ASSERT_OK(check_identity(certificate, certificate.public_key, "pi-1", kNow));
  ASSERT_CONTAINS(message_of(check_identity(certificate, certificate.public_key, "pi-2", kNow)),
                  "the certificate is for 'pi-1', and [fleet] device is 'pi-2'");
  ASSERT_CONTAINS(message_of(check_identity(certificate, PublicKey{}, "pi-1", kNow)),
                  "do not belong together");
}

TEST("Outside its dates a certificate is refused with what to do") {
  const Certificate certificate = sample();
  const auto at_time = [&](auto time) {
    return message_of(check_identity(certificate, certificate.public_key, "pi-1", time));
  };
  ASSERT_CONTAINS(at_time(certificate.not_after), "ended at 2027-01-16T08:00:00Z");
  ASSERT_CONTAINS(at_time(certificate.not_after), "renew it");
  ASSERT_CONTAINS(at_time(certificate.not_before - 1s), "set the clock");
  ASSERT_OK(check_identity(certificate, certificate.public_key, "pi-1", certificate.not_before));
}
