// The script that boards run at their first boot, with real bundles of a real fleet.
#include <cstdlib>
#include <unistd.h>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/programs.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

struct IdentityBoard {
  testing::TemporaryFolder folder;
  fs::path bundle = folder / "boot/aflguard-identity.tar";
  fs::path etc = folder / "etc";

  IdentityBoard() {
    fs::create_directories(folder / "boot");
    fs::create_directories(folder / "run");
    run("aflguard fleet init fleet --name f && aflguard device add pi-1 --fleet fleet && aflguard device add "
        "pi-2 "
        "--fleet fleet && for i in 1 2; do aflguard device bundle pi-$i --fleet fleet -o pi-$i.tar; done");
  }
  [[nodiscard]] ProgramOutcome shell(const std::string& script) const {
    const std::string bin = testing::programs_folder().string();
    auto outcome =
        run_program({"sh", "-c", "PATH=\"" + bin + ":$PATH\"; export PATH; " + script}, folder.path());
    ASSERT_OK(outcome);
    return *outcome;
  }
  void run(const std::string& script) const {
    const auto outcome = shell(script);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome.exit_code, outcome.output.c_str());
  }
  /// The account is the one that runs the test; boards have a separate one.
  [[nodiscard]] ProgramOutcome take() const {
    return shell("RUNTIME_DIRECTORY=\"$PWD/run\" sh '" + testing::source_folder().string() +
                 "/packaging/board/take-identity' '" + bundle.string() + "' '" + etc.string() + "' root");
  }
  void give(const std::string& archive) const {
    fs::copy_file(folder / archive, bundle, fs::copy_options::overwrite_existing);
  }
  [[nodiscard]] std::string device() const {
    const std::string text = read_text_file(etc / "client.toml").value();
    return text.find("device = \"pi-1\"") != std::string::npos ? "pi-1" : "pi-2";
  }
  void expect_refusal(const std::string& why) const {
    const auto outcome = take();
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, outcome.exit_code, outcome.output.c_str());
    ASSERT_CONTAINS(outcome.output, why);
    ASSERT_CONTAINS(read_text_file(folder / "boot/aflguard-identity-problem.txt").value(), why);
    TEST_ASSERT_TRUE(fs::exists(bundle));
    TEST_ASSERT_FALSE(fs::exists(etc.string() + ".incoming"));
  }
};

void skip_unless_root() {
  if (::geteuid() != 0) std::exit(77);  // it gives files to the client's account
}

}  // namespace

TEST("An identity is taken, closed to others, and gone from where it lay; another one replaces it") {
  skip_unless_root();
  const IdentityBoard board;
  board.give("pi-1.tar");
  const auto taken = board.take();
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, taken.exit_code, taken.output.c_str());
  ASSERT_CONTAINS(taken.output, "fine: device 'pi-1' of fleet 'f'");
  TEST_ASSERT_FALSE(fs::exists(board.bundle));
  TEST_ASSERT_TRUE(fs::status(board.etc / "device.key").permissions() == fs::perms(0600));
  TEST_ASSERT_TRUE(fs::status(board.etc).permissions() == fs::perms(0750));
  ASSERT_OK(write_file_atomically(board.etc / "samples.csv", std::string_view("1,2\n")));
  board.give("pi-2.tar");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  TEST_ASSERT_EQUAL_STRING("pi-2", board.device().c_str());
  TEST_ASSERT_TRUE(fs::exists(board.etc / "samples.csv"));  // what else lies there stays
}

TEST("What is not an identity is refused with a note beside it, and the old one stays") {
  skip_unless_root();
  const IdentityBoard board;
  board.give("pi-1.tar");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  board.run("head -c 700 pi-2.tar >cut.tar; echo nonsense >nonsense.tar; mkdir x; tar -xf pi-2.tar -C x");
  board.run("rm x/gateway.pem; tar -cf incomplete.tar -C x .");
  board.run("tar -xf pi-2.tar -C x; tar -xf pi-1.tar -C x device.key; tar -cf mixed.tar -C x .");
  board.run("tar -xf pi-2.tar -C x; ln -s /etc/passwd x/link; tar -cf link.tar -C x .");
  board.run(
      "rm x/link; tar -P -cf outside.tar --transform 's|^./device.csr|../outside|' -C x . && "
      "echo >x/device.csr && tar -P -rf outside.tar --transform 's|^|../|' -C x device.csr");
  board.give("nonsense.tar");
  board.expect_refusal("it is not a tar archive");
  board.give("cut.tar");
  board.expect_refusal("it is not a tar archive, or it is cut off");
  board.give("incomplete.tar");
  board.expect_refusal("it has no gateway.pem");
  board.give("mixed.tar");
  board.expect_refusal("certificate and key do not belong together");
  board.give("link.tar");
  board.expect_refusal("it holds links");
  board.give("outside.tar");
  board.expect_refusal("outside its folder");
  TEST_ASSERT_EQUAL_STRING("pi-1", board.device().c_str());
  board.give("pi-2.tar");  // the good one clears the note away
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  TEST_ASSERT_FALSE(fs::exists(board.folder / "boot/aflguard-identity-problem.txt"));
}

TEST("After a power loss at any step the next boot takes the identity") {
  skip_unless_root();
  const IdentityBoard board;
  board.give("pi-1.tar");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  // In the middle of unpacking; between the two renames; after them.
  const char* const losses[] = {
      "mkdir etc.incoming && tar -xf pi-2.tar -C etc.incoming client.toml",
      "mkdir etc.incoming && tar -xf pi-2.tar -C etc.incoming && mv etc etc.outgoing",
      "cp -a etc etc.outgoing",
      // While an earlier archive was overwritten.
      "head -c 700 pi-1.tar >boot/aflguard-identity.taken"};
  for (const char* loss : losses) {
    board.give("pi-2.tar");
    board.run(loss);
    const auto taken = board.take();
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, taken.exit_code, (std::string(loss) + ": " + taken.output).c_str());
    TEST_ASSERT_EQUAL_STRING("pi-2", board.device().c_str());
    TEST_ASSERT_FALSE(fs::exists(board.etc.string() + ".incoming"));
    TEST_ASSERT_FALSE(fs::exists(board.etc.string() + ".outgoing"));
    TEST_ASSERT_FALSE(fs::exists(board.folder / "boot/aflguard-identity.taken"));
    board.give("pi-1.tar");
    TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  }
}

TEST(
    "After a power loss without an archive to take, the old identity is back, and half an archive is "
    "erased") {
  skip_unless_root();
  const IdentityBoard board;
  board.give("pi-1.tar");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  board.run("head -c 700 pi-1.tar >boot/aflguard-identity.taken && mv etc etc.outgoing");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  TEST_ASSERT_EQUAL_STRING("pi-1", board.device().c_str());
  TEST_ASSERT_FALSE(fs::exists(board.folder / "boot/aflguard-identity.taken"));
  TEST_ASSERT_FALSE(fs::exists(board.folder / "boot/aflguard-identity-problem.txt"));
}

TEST("Links that someone has put on the board do not keep it from taking a new identity") {
  skip_unless_root();
  const IdentityBoard board;
  board.give("pi-1.tar");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  board.run("echo 1,2 >elsewhere.csv && ln -s ../elsewhere.csv etc/samples.csv");
  board.give("pi-2.tar");
  const auto taken = board.take();
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, taken.exit_code, taken.output.c_str());
  TEST_ASSERT_TRUE(fs::is_symlink(board.etc / "samples.csv"));
  // One in the place of a folder of the archive's does not lead the archive outside.
  board.run(
      "mkdir elsewhere && ln -s ../elsewhere etc/data && mkdir -p x/data && tar -xf pi-1.tar -C x && "
      "echo 1,2 >x/data/a.csv && (cd x && find . -type f | tar -cf ../deep.tar -T -)");
  board.give("deep.tar");
  TEST_ASSERT_EQUAL_INT(0, board.take().exit_code);
  TEST_ASSERT_TRUE(fs::exists(board.etc / "data/a.csv"));
  TEST_ASSERT_TRUE(fs::is_empty(board.folder / "elsewhere"));
}
