#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "edge_client/identity.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

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

TEST("A key that its owner alone can read is read; any other mode is refused with the mending command") {
  const TemporaryFolder folder;
  const fs::path path = folder / "device.key";
  std::ofstream(path) << "secret";
  for (const mode_t mode : {0600, 0400, 0700}) {
    TEST_ASSERT_EQUAL_INT(0, ::chmod(path.c_str(), mode));
    TEST_ASSERT_EQUAL_STRING("secret", read_secret_file(path)->c_str());
  }
  for (const mode_t mode : {0640, 0604, 0660, 0644, 0610, 0601}) {
    TEST_ASSERT_EQUAL_INT(0, ::chmod(path.c_str(), mode));
    ASSERT_CONTAINS(message_of(read_secret_file(path)), "run: chmod 600 " + path.string());
  }
}

TEST("A key of another user, a folder and a missing file are refused") {
  const TemporaryFolder folder;
  TEST_ASSERT_TRUE(read_secret_file(folder / "none").error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(message_of(read_secret_file(folder.path())), "not a regular file");
  std::ofstream(folder / "k") << "x";
  TEST_ASSERT_EQUAL_INT(0, ::chmod((folder / "k").c_str(), 0600));
  if (::chown((folder / "k").c_str(), 12345, 12345) != 0) {
    TEST_IGNORE_MESSAGE("giving a file to another user needs root");
  }
  ASSERT_CONTAINS(message_of(read_secret_file(folder / "k")), "belongs to user 12345");
}

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
