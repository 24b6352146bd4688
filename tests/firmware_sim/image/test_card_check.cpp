#include "firmware_sim/image/card_check.h"
#include "tests/firmware_sim/image/small_card.h"

using namespace aflguard;
using namespace aflguard::image;
using testing::message_of;
namespace fs = std::filesystem;

TEST("An identity goes only to what our image was written to, and the file is closed to others") {
  need_mtools();
  const SmallCard card;
  fs::permissions(card.image, fs::perms(0644));
  ASSERT_OK(prepare_card(card.image, kSmallOffset));
  TEST_ASSERT_TRUE(fs::status(card.image).permissions() == fs::perms(0600));
  ASSERT_OK(run_program({"mlabel", "-i", card.boot_partition(), "::HOLIDAYS"}, "/"));
  ASSERT_CONTAINS(message_of(prepare_card(card.image, kSmallOffset)), "'HOLIDAYS' and not AFLGUARD");
}

TEST("A card of which a partition is mounted is recognised, another one with a longer name is not") {
  const std::string mounts =
      "proc /proc proc rw 0 0\n/dev/sdb1 /media/me/AFLGUARD vfat rw 0 0\n/dev/mmcblk0p2 / ext4 rw 0 0\n";
  TEST_ASSERT_EQUAL_STRING("/media/me/AFLGUARD", mount_point_of("/dev/sdb", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("/", mount_point_of("/dev/mmcblk0", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("", mount_point_of("/dev/sd", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("", mount_point_of("/dev/sdc", mounts).c_str());
  TEST_ASSERT_EQUAL_STRING("", mount_point_of("/dev/loop1", "/dev/loop10 /snap squashfs\n").c_str());
}
