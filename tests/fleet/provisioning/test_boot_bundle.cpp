#include <map>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "fleet/provisioning/boot_bundle.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
namespace fs = std::filesystem;

namespace {

std::map<std::string, std::string> files_of(const BootBundleRequest& order) {
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
  ASSERT_CONTAINS(user, "\nhostname: \"pi-7-east\"\n");
  ASSERT_CONTAINS(user, "\nmanage_etc_hosts: localhost\n");
  ASSERT_CONTAINS(user, "\nssh_pwauth: false\n");
  TEST_ASSERT_TRUE(user.find("users:") == std::string::npos);
  TEST_ASSERT_FALSE(files.contains("ssh"));
  TEST_ASSERT_TRUE(files.at("aflguard/setup.sh").find("ssh") == std::string::npos);
  ASSERT_CONTAINS(files.at("meta-data"), "instance-id: \"aflguard-pi-7-east-0badcafe\"\n");
  TEST_ASSERT_EQUAL_STRING("the archive", files.at("aflguard-identity.tar").c_str());
  const auto made = boot_bundle_files({"a", "1", "x", {}});
  for (const BootBundleFile& file : *made) {
    TEST_ASSERT_TRUE(file.secret == (file.path == "aflguard-identity.tar"));
  }
}

TEST("The set-up is started at every boot while there is an identity, and waits for no keyboard") {
  const std::string user = files_of({"pi-1", "1", "", {}}).at("user-data");
  // cloud-init runs these once, after a wizard that waits for a keyboard; interrupted, never again.
  TEST_ASSERT_TRUE(user.find("runcmd") == std::string::npos);
  ASSERT_CONTAINS(user, "\nbootcmd:\n  - [systemctl, mask, --now, --no-block, userconfig.service]\n");
  ASSERT_CONTAINS(user, "systemd-run, --no-block,");
  ASSERT_CONTAINS(user, "ConditionPathExists=/boot/firmware/aflguard-identity.tar,");
  ASSERT_CONTAINS(user, "sh, /boot/firmware/aflguard/setup.sh]\n");
}

TEST("Names that YAML would take for numbers or truths stay names") {
  for (const char* name : {"007", "1e3", "on", "null"}) {
    const auto files = files_of({name, "1", "", {}});
    const std::string quoted = std::string("\"") + name + "\"\n";
    ASSERT_CONTAINS(files.at("user-data"), "\nhostname: " + quoted);
    ASSERT_CONTAINS(files.at("meta-data"), "\nlocal-hostname: " + quoted);
  }
  ASSERT_CONTAINS(files_of({"7", "12", "", {}}).at("meta-data"), "instance-id: \"aflguard-7-12\"\n");
}

TEST("ssh keys make an account without a password, and switch the server on") {
  const auto files = files_of({"pi-1", "1", "", {"ssh-ed25519 AAAA"}});
  ASSERT_CONTAINS(files.at("user-data"), "  - name: admin\n");
  ASSERT_CONTAINS(files.at("user-data"), "    lock_passwd: true\n");
  ASSERT_CONTAINS(files.at("user-data"), "      - \"ssh-ed25519 AAAA\"\n");
  TEST_ASSERT_EQUAL_STRING("", files.at("ssh").c_str());
  ASSERT_CONTAINS(files.at("aflguard/setup.sh"), "systemctl enable --now --no-block ssh.service");
  for (const char* key :
       {"ssh-ed25519 A\"\nruncmd: [reboot]", "ssh-ed25519 AAAA \"", "ssh-rsa AAAA\nssh-rsa BBBB"}) {
    TEST_ASSERT_FALSE(boot_bundle_files({"pi-1", "1", "", {key}}).ok());
  }
}

TEST("Files of ssh keys are read line by line, type and key only; private keys and others are refused") {
  const auto keys =
      read_ssh_keys("# mine\r\nssh-ed25519 AAAA J\xc3\xbcrgen \"x\"\r\n\necdsa-sha2-nistp256\tBBB=\n");
  ASSERT_OK(keys);
  TEST_ASSERT_EQUAL_size_t(2, keys->size());
  TEST_ASSERT_EQUAL_STRING("ssh-ed25519 AAAA", keys->front().c_str());
  TEST_ASSERT_EQUAL_STRING("ecdsa-sha2-nistp256 BBB=", keys->back().c_str());
  for (const char* text : {"", "# only this\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "ssh-ed25519\n",
                           "ssh-foo AAAA\n", "ssh-rsa AAA\n", "ssh-rsa A===\n", "ssh-rsa AA=A\n",
                           "ssh-rsa \"AAA\n", "ssh-rsa ====\n", "no-pty ssh-rsa AAAA\n"}) {
    ASSERT_CONTAINS(testing::message_of(read_ssh_keys(text)), "ssh public key");
  }
}

TEST("Every device's name makes a host name") {
  TEST_ASSERT_EQUAL_STRING("pi-1", host_name_of("pi-1").c_str());
  TEST_ASSERT_EQUAL_STRING("a-b-c", host_name_of("A.b_C").c_str());
  TEST_ASSERT_EQUAL_STRING("x", host_name_of("--x--").c_str());
  TEST_ASSERT_EQUAL_STRING("aflguard-board", host_name_of("...").c_str());
  TEST_ASSERT_EQUAL_size_t(63, host_name_of(std::string(200, 'a')).size());
}

namespace {

/// The set-up script among programs that only say what they were asked for. It sees nothing of this system.
struct Board {
  testing::TemporaryFolder folder;
  fs::path boot = folder / "boot";

  explicit Board(const std::vector<std::string>& keys = {}) {
    fs::create_directories(boot / "aflguard");
    fs::create_directories(folder / "bin");
    ASSERT_OK(write_file_atomically(boot / "aflguard/setup.sh",
                                    files_of({"a", "1", "", keys}).at("aflguard/setup.sh")));
    ASSERT_OK(write_file_atomically(boot / "aflguard/aflguard-client.deb", "a package"));
    ASSERT_OK(write_file_atomically(boot / "aflguard-identity.tar", "an identity"));
    program("dpkg", "");
    program("dpkg-deb", "echo 2.0");
    program("dpkg-query", "[ -e installed ] && cat installed");
    program("apt-get", "case $* in *install*) printf 'installed 2.0' >installed ;; esac");
    program("systemctl",
            "case $* in 'start aflguard-identity.service') rm boot/aflguard-identity.tar ;; esac");
  }
  void program(const std::string& name, const std::string& does) const {
    const fs::path file = folder / "bin" / name;
    ASSERT_OK(write_file_atomically(file, "#!/bin/sh\necho \"" + name + " $*\" >>asked\n" + does + "\n"));
    fs::permissions(file, fs::perms::owner_all);
  }
  /// What was asked for.
  [[nodiscard]] std::string set_up(int code) const {
    const auto outcome = run_program(
        {"env", "PATH=" + (folder / "bin").string() + ":/usr/bin:/bin", "sh", "boot/aflguard/setup.sh"},
        folder.path());
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(code, outcome->exit_code, outcome->output.c_str());
    return read_text_file(folder / "asked").value();
  }
  [[nodiscard]] std::string note() const {
    return read_text_file(boot / "aflguard-identity-problem.txt").value();
  }
};

}  // namespace

TEST(
    "The set-up ends what was interrupted, installs without a network, takes the identity, starts the "
    "client") {
  const Board board;
  ASSERT_OK(write_file_atomically(board.boot / "aflguard-identity-problem.txt", "of the boot before"));
  const std::string asked = board.set_up(0);
  TEST_ASSERT_TRUE(asked.starts_with("dpkg --configure -a\napt-get --yes "));
  ASSERT_CONTAINS(
      asked, "-o DPkg::Lock::Timeout=600 install " + board.boot.string() + "/aflguard/aflguard-client.deb\n");
  TEST_ASSERT_TRUE(asked.find("apt-get update") == std::string::npos);
  ASSERT_CONTAINS(asked, "systemctl start aflguard-identity.service\n");
  TEST_ASSERT_TRUE(asked.ends_with("systemctl --no-block restart aflguard-client.service\n"));
  TEST_ASSERT_FALSE(fs::exists(board.boot / "aflguard-identity-problem.txt"));
}

TEST("A card with an ssh key switches ssh on before anything can fail") {
  const Board board({"ssh-ed25519 AAAA"});
  TEST_ASSERT_TRUE(board.set_up(0).starts_with("systemctl enable --now --no-block ssh.service\ndpkg "));
}

TEST("A package that is not installed is said on the boot partition, and no identity is taken") {
  const Board board;
  board.program("apt-get", "echo 'Reading lists'; echo 'E: Could not get lock'; exit 100");
  ASSERT_CONTAINS(board.set_up(1), "apt-get update\n");
  ASSERT_CONTAINS(
      board.note(),
      "aflguard-client 2.0 could not be installed, it is not installed: E: Could not get lock\r\n");
  TEST_ASSERT_TRUE(fs::exists(board.boot / "aflguard-identity.tar"));
  ASSERT_OK(write_file_atomically(board.folder / "installed", "installed 1.0"));
  (void)board.set_up(1);
  ASSERT_CONTAINS(board.note(), "it is installed 1.0: E: ");
  board.program("dpkg-deb", "exit 2");
  (void)board.set_up(1);
  ASSERT_CONTAINS(board.note(), "aflguard-client.deb is damaged; copy it again");
}

TEST("What is missing is fetched, and trouble of other packages is not ours") {
  const Board board;
  board.program("apt-get",
                "case $* in update) : >lists ;; *) [ -e lists ] && printf 'installed 2.0' >installed; exit "
                "100 ;; esac");
  (void)board.set_up(0);
  TEST_ASSERT_FALSE(fs::exists(board.boot / "aflguard-identity-problem.txt"));
}

TEST("An identity that is not taken fails the set-up, with its own reason where there is one") {
  const Board board;
  board.program("systemctl", "case $* in start*) exit 1 ;; esac");
  TEST_ASSERT_TRUE(board.set_up(1).ends_with("start aflguard-identity.service\n"));
  ASSERT_CONTAINS(board.note(), "journalctl -u aflguard-identity");
  board.program("systemctl",
                "case $* in start*) echo why >boot/aflguard-identity-problem.txt; exit 1 ;; esac");
  (void)board.set_up(1);
  TEST_ASSERT_EQUAL_STRING("why\n", board.note().c_str());
}
