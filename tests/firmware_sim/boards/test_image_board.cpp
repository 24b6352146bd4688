// Boards that boot a card's image. The image here has partitions, file systems and a boot configuration as
// real ones, and next to nothing in them; ./run check image boots a real one.
#include <algorithm>
#include <fstream>

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "core/system/programs.h"
#include "firmware_sim/boards/image_board.h"
#include "firmware_sim/image/boot_partition.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kBootOffset = 1 << 20;
constexpr std::uint64_t kBootBytes = 64 << 20;
constexpr std::uint64_t kRootOffset = kBootOffset + kBootBytes;
constexpr std::uint64_t kRootBytes = 16 << 20;

void run(const std::vector<std::string>& arguments) {
  const auto outcome = run_program(arguments, "/");
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
}

std::string partition_table() {
  std::string sector(512, '\0');
  const auto entry = [&sector](std::size_t at, char type, std::uint64_t offset) {
    sector[at + 4] = type;
    for (std::size_t i = 0; i < 4; ++i) sector[at + 8 + i] = static_cast<char>((offset / 512) >> (8 * i));
  };
  entry(446, '\x0c', kBootOffset);
  entry(462, '\x83', kRootOffset);
  sector[510] = '\x55';
  sector[511] = '\xaa';
  return sector;
}

Board board(const std::string& attack) {
  Board made;
  made.name = "sim-01";
  made.depth = Depth::kImage;
  made.attack = attack;
  return made;
}

struct Place {
  testing::TemporaryFolder folder;
  fs::path image = folder / "board.img";
  BoardFolder board{folder / "boards/sim-01"};
  ImageBoard kind{image, {folder / "programs"}};

  Place() {
    if (find_program("mcopy").empty()) TEST_IGNORE_MESSAGE("mtools is not installed");
    make_image("first kernel");
    fs::create_directories(board.card() / "model");
    ASSERT_OK(write_file_atomically(board.card() / "client.toml", "first\n"));
    fs::create_directories(folder / "programs");
    ASSERT_OK(write_file_atomically(folder / "programs/aflguard-byzantine-client", "a malicious client\n"));
  }

  void make_image(const std::string& kernel) const {
    const fs::path boot = folder / "boot";
    const fs::path root = folder / "root";
    fs::create_directories(boot);
    fs::create_directories(root / "usr/bin");
    fs::create_directories(root / "etc/systemd/system/aflguard-client.service.d");
    ASSERT_OK(write_file_atomically(
        boot / "config.txt", "arm_64bit=1\r\nkernel=vmlinuz-6\ninitramfs initrd.img-6 followkernel\n"));
    ASSERT_OK(write_file_atomically(boot / "cmdline.txt",
                                    "console=tty0 console=ttyS1,115200 root=LABEL=aflguard-root rw\n"));
    ASSERT_OK(write_file_atomically(boot / "vmlinuz-6", kernel));
    ASSERT_OK(write_file_atomically(boot / "initrd.img-6", "an initial disk"));
    ASSERT_OK(write_file_atomically(image, partition_table()));
    fs::resize_file(image, kRootOffset + kRootBytes);
    ASSERT_OK(image::format_boot_partition(image, kBootOffset, kBootBytes));
    ASSERT_OK(image::fill_boot_partition(image, kBootOffset, boot));
    run({find_program("mke2fs").string(), "-q", "-F", "-t", "ext4", "-d", root.string(), "-E",
         "offset=" + std::to_string(kRootOffset), image.string(), std::to_string(kRootBytes / 1024) + "k"});
  }
  [[nodiscard]] fs::path card() const { return board.root / "card.img"; }
  /// A file of the card's boot partition.
  [[nodiscard]] std::string on_boot(const std::string& name) const {
    ASSERT_OK(image::take_boot_file(card(), kBootOffset, name, folder / "taken"));
    return read_text_file(folder / "taken").value();
  }
  /// A file of the archive that the board takes its identity from.
  [[nodiscard]] std::string in_identity(const std::string& name) const {
    ASSERT_OK(image::take_boot_file(card(), kBootOffset, "aflguard-identity.tar", folder / "taken"));
    return run_program({"tar", "-xOf", (folder / "taken").string(), "./" + name}, "/")->output;
  }
  [[nodiscard]] std::string in_root(const std::string& name) const {
    return run_program({find_program("debugfs").string(), "-R", "cat " + name,
                        card().string() + "?offset=" + std::to_string(kRootOffset)},
                       "/")
        ->output;
  }
};

std::string value_of(const std::vector<std::string>& command, const std::string& option) {
  const auto found = std::find(command.begin(), command.end(), option);
  TEST_ASSERT_TRUE_MESSAGE(found != command.end() && found + 1 != command.end(), option.c_str());
  return *(found + 1);
}

}  // namespace

TEST("A board of depth image boots its own card with the kernel and the command line that lie on it") {
  const Place place;
  const auto command = place.kind.build(board(""), place.board);
  ASSERT_OK(command);
  TEST_ASSERT_EQUAL_STRING("first kernel", read_text_file(value_of(*command, "-kernel")).value().c_str());
  TEST_ASSERT_EQUAL_STRING("an initial disk", read_text_file(value_of(*command, "-initrd")).value().c_str());
  const std::string line = value_of(*command, "-append");
  ASSERT_CONTAINS(line, "console=ttyAMA0");
  ASSERT_CONTAINS(line, "root=LABEL=aflguard-root rw");
  TEST_ASSERT_TRUE_MESSAGE(line.find("ttyS1") == std::string::npos, line.c_str());
  ASSERT_CONTAINS(value_of(*command, "-drive"), "file=" + place.card().string());
  TEST_ASSERT_EQUAL_UINT64(kCardBytes, fs::file_size(place.card()));
}

TEST("The card is closed to others, carries the board's files as an identity, and says where the broker is") {
  const Place place;
  ASSERT_OK(place.kind.build(board(""), place.board));
  TEST_ASSERT_TRUE(fs::status(place.card()).permissions() == fs::perms(0600));
  TEST_ASSERT_EQUAL_STRING("first\n", place.in_identity("client.toml").c_str());
  TEST_ASSERT_EQUAL_STRING("10.0.2.2 localhost\n", place.on_boot("hosts").c_str());
  TEST_ASSERT_FALSE(fs::exists(place.board.root / "aflguard-identity.tar"));  // it holds a key
}

TEST("The card stays, with a new identity on it, until the image is another one") {
  const Place place;
  ASSERT_OK(place.kind.build(board(""), place.board));
  ASSERT_OK(image::put_boot_file(place.card(), kBootOffset, {"kept", "by the board"}));
  ASSERT_OK(write_file_atomically(place.board.card() / "client.toml", "second\n"));
  ASSERT_OK(place.kind.build(board(""), place.board));
  TEST_ASSERT_EQUAL_STRING("by the board", place.on_boot("kept").c_str());
  TEST_ASSERT_EQUAL_STRING("second\n", place.in_identity("client.toml").c_str());
  place.make_image("second kernel");
  const auto command = place.kind.build(board(""), place.board);
  ASSERT_OK(command);
  TEST_ASSERT_EQUAL_STRING("second kernel", read_text_file(value_of(*command, "-kernel")).value().c_str());
  TEST_ASSERT_FALSE(image::take_boot_file(place.card(), kBootOffset, "kept", place.folder / "none").ok());
}

TEST(
    "A malicious board's card has the malicious program, its unit and its attack; an honest board's has "
    "not") {
  if (find_program("debugfs").empty()) TEST_IGNORE_MESSAGE("e2fsprogs is not installed");
  const Place place;
  const std::string program = "/usr/bin/aflguard-byzantine-client";
  const std::string unit = "/etc/systemd/system/aflguard-client.service.d/lie.conf";
  ASSERT_OK(place.kind.build(board(""), place.board));
  TEST_ASSERT_TRUE(place.in_root(program).find("a malicious client") == std::string::npos);
  ASSERT_OK(place.kind.build(board("gd"), place.board));
  ASSERT_CONTAINS(place.in_root(program), "a malicious client\n");
  ASSERT_CONTAINS(place.in_root(unit), "--attack ${AFLGUARD_ATTACK}");
  TEST_ASSERT_EQUAL_STRING("AFLGUARD_ATTACK=gd\n", place.in_identity("attack.env").c_str());
  run({find_program("e2fsck").string(), "-fn",
       place.card().string() + "?offset=" + std::to_string(kRootOffset)});
  // The same board is honest another day.
  fs::remove(place.board.card() / "attack.env");
  ASSERT_OK(place.kind.build(board(""), place.board));
  TEST_ASSERT_TRUE(place.in_root(program).find("a malicious client") == std::string::npos);
}

TEST(
    "What is not an image, or lacks its kernel, is refused with what to do; a card that cannot be written "
    "leaves "
    "nothing behind") {
  const Place place;
  const ImageBoard nowhere(place.folder / "none.img", {place.folder / "programs"});
  const std::string problem = message_of(nowhere.check_machine(board("")));
  TEST_ASSERT_TRUE_MESSAGE(problem.find("./run image") != std::string::npos ||
                               problem.find("apt-get install qemu-system-arm") != std::string::npos,
                           problem.c_str());
  ASSERT_CONTAINS(message_of(parse_firmware_config("kernel=vmlinuz\n")), "no initramfs");
  ASSERT_CONTAINS(message_of(parse_firmware_config("")), "no kernel");
  // A malicious device that cannot be put there: the root partition has no such folder.
  std::ofstream(place.image, std::ios::in | std::ios::binary).seekp(kRootOffset + 1024)
      << std::string(4096, '\0');
  TEST_ASSERT_FALSE(place.kind.build(board("gd"), place.board).ok());
  TEST_ASSERT_FALSE(fs::exists(place.card()));
  TEST_ASSERT_FALSE(fs::exists(place.card().string() + ".new"));
}
