// Real mtools on real, small images.
#include "core/base/atomic_file.h"
#include "core/base/child_process.h"
#include "firmware_sim/image/boot_partition.h"
#include "firmware_sim/image/card_check.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::image;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kOffset = 1 << 20;
constexpr std::uint64_t kBytes = 48 << 20;

struct Card {
  testing::TemporaryFolder folder;
  fs::path image = folder / "card.img";

  Card() {
    std::string sector(512, '\0');
    sector[446 + 4] = '\x0c';
    for (std::size_t i = 0; i < 4; ++i) {
      sector[446 + 8 + i] = static_cast<char>(kOffset / 512 >> (8 * i));
      sector[446 + 12 + i] = static_cast<char>(kBytes / 512 >> (8 * i));
    }
    sector[510] = '\x55';
    sector[511] = '\xaa';
    ASSERT_OK(write_file_atomically(image, sector));
    fs::resize_file(image, kOffset + kBytes);
    ASSERT_OK(format_boot_partition(image, kOffset, kBytes));
  }
  void put(const std::string& name, const std::string& content) const {
    ASSERT_OK(put_boot_file(image, find_boot_partition(image).value(), {name, content}));
  }
  [[nodiscard]] std::string take(const std::string& name) const {
    const fs::path target = folder / "taken";
    fs::remove(target);
    ASSERT_OK(take_boot_file(image, kOffset, name, target));
    return read_text_file(target).value();
  }
  [[nodiscard]] bool holds(const std::string& text) const {
    return read_text_file(image).value().find(text) != std::string::npos;
  }
};

void need_mtools() {
  if (run_program({"sh", "-c", "command -v mshowfat"}, "/")->exit_code != 0)
    TEST_IGNORE_MESSAGE("mtools is not installed");
}

}  // namespace

TEST("A file in place of another leaves nothing of the other's content, whatever lies between") {
  need_mtools();
  const Card card;
  card.put("aflguard-identity.tar", std::string(5000, 'a') + "FIRST-KEY");
  card.put("hosts", "127.0.0.1 localhost\n");
  card.put("aflguard-identity.tar", std::string(90'000, 'b') + "SECOND-KEY");
  TEST_ASSERT_FALSE(card.holds("FIRST-KEY"));
  card.put("aflguard-identity.tar", "none");
  TEST_ASSERT_FALSE(card.holds("SECOND-KEY"));
  TEST_ASSERT_EQUAL_STRING("none", card.take("aflguard-identity.tar").c_str());
  TEST_ASSERT_EQUAL_STRING("127.0.0.1 localhost\n", card.take("hosts").c_str());
}

TEST("A file for which there is no room is refused, and the old one stays") {
  need_mtools();
  const Card card;
  card.put("aflguard-identity.tar", "old");
  const auto put = put_boot_file(card.image, kOffset, {"aflguard-identity.tar", std::string(kBytes, 'x')});
  TEST_ASSERT_FALSE(put.ok());
  ASSERT_CONTAINS(message_of(put), std::to_string(kBytes) + " bytes");
  TEST_ASSERT_EQUAL_STRING("old", card.take("aflguard-identity.tar").c_str());
  card.put("aflguard-identity.tar", "new");
}

TEST("An image that is cut off, packed or missing is refused with the reason") {
  need_mtools();
  const Card card;
  fs::resize_file(card.image, kOffset + kBytes - 1);
  ASSERT_CONTAINS(message_of(find_boot_partition(card.image)), "is cut off");
  const fs::path packed = card.folder / "packed";
  ASSERT_OK(write_file_atomically(packed, std::string("\xfd") + "7zXZ and so on"));
  ASSERT_CONTAINS(message_of(find_boot_partition(packed)), "is compressed");
  ASSERT_CONTAINS(message_of(find_boot_partition(card.folder / "none")), "No such file");
}

TEST("An identity goes only to what our image was written to, and the file is closed to others") {
  need_mtools();
  const Card card;
  fs::permissions(card.image, fs::perms(0644));
  ASSERT_OK(prepare_card(card.image, kOffset));
  TEST_ASSERT_TRUE(fs::status(card.image).permissions() == fs::perms(0600));
  ASSERT_OK(
      run_program({"mlabel", "-i", card.image.string() + "@@" + std::to_string(kOffset), "::HOLIDAYS"}, "/"));
  ASSERT_CONTAINS(message_of(prepare_card(card.image, kOffset)), "'HOLIDAYS' and not AFLGUARD");
}

TEST("A card of which a partition is mounted is recognised, another one with a longer name is not") {
  const std::string mounts =
      "proc /proc proc rw 0 0\n/dev/sdb1 /media/me/AFLGUARD vfat rw 0 0\n/dev/mmcblk0p2 / ext4 rw 0 0\n";
  TEST_ASSERT_EQUAL_STRING("/media/me/AFLGUARD", mount_point_of("/dev/sdb", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("/", mount_point_of("/dev/mmcblk0", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("", mount_point_of("/dev/sd", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("", mount_point_of("/dev/sdc", mounts).c_str());
}
