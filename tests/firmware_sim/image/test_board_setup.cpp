// The script of our own image that takes names from the boot partition, on a folder that looks like a board.
#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

struct Board {
  testing::TemporaryFolder root;

  Board() {
    fs::create_directories(root / "boot/firmware");
    fs::create_directories(root / "etc/aflguard");
    const fs::path overlay = testing::source_folder() / "firmware_sim/image/overlay/etc";
    for (const char* file : {"hosts", "hostname"}) fs::copy_file(overlay / file, root / "etc" / file);
  }
  [[nodiscard]] fs::path operator/(const char* name) const { return root / name; }
  void write(const char* name, std::string_view text) const {
    ASSERT_OK(write_file_atomically(root / name, text));
  }
  [[nodiscard]] std::string read(const char* name) const { return read_text_file(root / name).value(); }
  [[nodiscard]] std::string set_up() const {
    const auto outcome = run_program(
        {"sh",
         (testing::source_folder() / "firmware_sim/image/overlay/usr/lib/aflguard-image/board-setup")
             .string(),
         root.path().string()},
        "/");
    ASSERT_OK(outcome);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
    return outcome->output;
  }
};

}  // namespace

TEST("A board without an identity keeps its name; with one it is named after its device, once") {
  const Board board;
  const std::string hosts = board.read("etc/hosts");
  TEST_ASSERT_EQUAL_STRING("", board.set_up().c_str());
  TEST_ASSERT_EQUAL_STRING(hosts.c_str(), board.read("etc/hosts").c_str());
  board.write("etc/aflguard/client.toml", "[fleet]\n device = \"Field_7.north\"\n");
  ASSERT_CONTAINS(board.set_up(), "this board is now called field-7-north");
  TEST_ASSERT_EQUAL_STRING("field-7-north\n", board.read("etc/hostname").c_str());
  ASSERT_CONTAINS(board.read("etc/hosts"), "\n127.0.1.1 field-7-north\n");
  TEST_ASSERT_EQUAL_STRING("", board.set_up().c_str());
  TEST_ASSERT_FALSE(fs::exists(board / "etc/hosts.new"));
}

TEST("Names of hosts are taken from the boot partition, stay, and can be replaced") {
  const Board board;
  // As someone's editor on another system would write it: a mark first, no end of the last line.
  board.write("boot/firmware/hosts",
              "\xef\xbb\xbf"
              "192.0.2.5 gateway.example.org\r\n# nobody\r\n192.0.2.6 other");
  ASSERT_CONTAINS(board.set_up(), "names of hosts were taken");
  TEST_ASSERT_FALSE(fs::exists(board / "boot/firmware/hosts"));
  const char* const expected =
      "192.0.2.5 gateway.example.org\n# nobody\n192.0.2.6 other\n127.0.0.1 localhost\n127.0.1.1 "
      "aflguard-board\n"
      "::1 localhost ip6-localhost ip6-loopback\n";
  TEST_ASSERT_EQUAL_STRING(expected, board.read("etc/hosts").c_str());
  board.write("etc/aflguard/client.toml", "device = \"pi-1\"\n");
  (void)board.set_up();
  ASSERT_CONTAINS(board.read("etc/hosts"), "192.0.2.6 other\n127.0.0.1 localhost\n127.0.1.1 pi-1\n");
  board.write("boot/firmware/hosts", "192.0.2.9 gateway.example.org\n");
  (void)board.set_up();
  TEST_ASSERT_EQUAL_STRING(
      "192.0.2.9 gateway.example.org\n127.0.0.1 localhost\n127.0.1.1 pi-1\n::1 localhost ip6-localhost "
      "ip6-loopback\n",
      board.read("etc/hosts").c_str());
}

TEST("Lines that someone has added on the board stay, until its name or its names of hosts change") {
  const Board board;
  const std::string mended = board.read("etc/hosts") + "192.0.2.7 by-hand\n";
  board.write("etc/hosts", mended);
  TEST_ASSERT_EQUAL_STRING("", board.set_up().c_str());
  TEST_ASSERT_EQUAL_STRING(mended.c_str(), board.read("etc/hosts").c_str());
  fs::remove(board / "etc/hostname");
  ASSERT_CONTAINS(board.set_up(), "this board is now called aflguard-board");
}

TEST("A name that its owner has given is not given again by the board itself") {
  const Board board;
  board.write("boot/firmware/hosts", "10.0.2.2 localhost # 127.0.1.1 aflguard-board\n");
  (void)board.set_up();
  TEST_ASSERT_EQUAL_STRING("10.0.2.2 localhost # 127.0.1.1 aflguard-board\n127.0.1.1 aflguard-board\n",
                           board.read("etc/hosts").c_str());
}
