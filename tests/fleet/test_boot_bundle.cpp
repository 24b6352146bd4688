#include <map>

#include "core/base/atomic_file.h"
#include "core/base/child_process.h"
#include "fleet/boot_bundle.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

std::map<std::string, std::string> files_of(const BootBundleOrder& order) {
  const auto made = boot_bundle_files(order);
  ASSERT_OK(made);
  std::map<std::string, std::string> files;
  for (const BootBundleFile& file : *made) files[file.path] = file.content;
  return files;
}

}  // namespace

TEST("A boot bundle names the board, runs the set-up and opens no account by itself") {
  const auto files = files_of({"Pi_7.east", "0badcafe", "the archive", {}});
  const std::string& user = files.at("user-data");
  TEST_ASSERT_TRUE(user.starts_with("#cloud-config\n"));
  ASSERT_CONTAINS(user, "\nhostname: pi-7-east\n");
  ASSERT_CONTAINS(user, "\nssh_pwauth: false\n");
  ASSERT_CONTAINS(user, "\nruncmd:\n  - [sh, /boot/firmware/aflguard/setup.sh]\n");
  TEST_ASSERT_TRUE(user.find("users:") == std::string::npos);
  ASSERT_CONTAINS(files.at("meta-data"), "instance-id: aflguard-pi-7-east-0badcafe\n");
  TEST_ASSERT_EQUAL_STRING("the archive", files.at("aflguard-identity.tar").c_str());
  const auto made = boot_bundle_files({"a", "1", "x", {}});
  for (const BootBundleFile& file : *made) {
    TEST_ASSERT_TRUE(file.secret == (file.path == "aflguard-identity.tar"));
  }
}

TEST("ssh keys make an account without a password") {
  const auto files = files_of({"pi-1", "1", "", {"ssh-ed25519 AAAA me@desk"}});
  ASSERT_CONTAINS(files.at("user-data"), "  - name: admin\n");
  ASSERT_CONTAINS(files.at("user-data"), "    lock_passwd: true\n");
  ASSERT_CONTAINS(files.at("user-data"), "      - \"ssh-ed25519 AAAA me@desk\"\n");
  const auto refused = boot_bundle_files({"pi-1", "1", "", {"ssh-ed25519 A\"\nruncmd: [reboot]"}});
  TEST_ASSERT_FALSE(refused.ok());
}

TEST("Files of ssh keys are read line by line; private keys and others are refused") {
  const auto keys = read_ssh_keys("# mine\r\nssh-ed25519 AAAA me\r\n\necdsa-sha2-nistp256 BBBB\n");
  ASSERT_OK(keys);
  TEST_ASSERT_EQUAL_size_t(2, keys->size());
  TEST_ASSERT_EQUAL_STRING("ssh-ed25519 AAAA me", keys->front().c_str());
  for (const char* text : {"", "# only this\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "ssh-ed25519\n",
                           "ssh-rsa AAAA \"x\"\n", "ssh-rsa AAAA\tx\n"}) {
    ASSERT_CONTAINS(read_ssh_keys(text).error().message, "ssh public key");
  }
}

TEST("Every device's name makes a host name") {
  TEST_ASSERT_EQUAL_STRING("pi-1", host_name_of("pi-1").c_str());
  TEST_ASSERT_EQUAL_STRING("a-b-c", host_name_of("A.b_C").c_str());
  TEST_ASSERT_EQUAL_STRING("x", host_name_of("--x--").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard-board", host_name_of("...").c_str());
  TEST_ASSERT_EQUAL_size_t(63, host_name_of(std::string(200, 'a')).size());
}

TEST("A shell reads the set-up script") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "setup.sh", files_of({"a", "1", "", {}}).at("aflguard/setup.sh")));
  const auto outcome = run_program({"sh", "-n", "setup.sh"}, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
}
