// Real mtools on real, small images.
#include "firmware_sim/image/boot_partition.h"
#include "tests/firmware_sim/image/small_card.h"

using namespace aflguard;
using namespace aflguard::image;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

struct Card : SmallCard {
  void put(const std::string& name, const std::string& content) const {
    ASSERT_OK(put_boot_file(image, find_boot_partition(image).value(), {name, content}));
  }
  [[nodiscard]] std::string take(const std::string& name) const {
    const fs::path target = folder / "taken";
    fs::remove(target);
    ASSERT_OK(take_boot_file(image, kSmallOffset, name, target));
    return read_text_file(target).value();
  }
  [[nodiscard]] bool holds(const std::string& text) const {
    return read_text_file(image).value().find(text) != std::string::npos;
  }
};

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
  const auto put =
      put_boot_file(card.image, kSmallOffset, {"aflguard-identity.tar", std::string(kSmallBytes, 'x')});
  TEST_ASSERT_FALSE(put.ok());
  ASSERT_CONTAINS(message_of(put), std::to_string(kSmallBytes) + " bytes");
  TEST_ASSERT_EQUAL_STRING("old", card.take("aflguard-identity.tar").c_str());
  card.put("aflguard-identity.tar", "new");
}

TEST("An image that is cut off, packed or missing is refused with the reason") {
  need_mtools();
  const Card card;
  fs::resize_file(card.image, kSmallOffset + kSmallBytes - 1);
  ASSERT_CONTAINS(message_of(find_boot_partition(card.image)), "is cut off");
  const fs::path packed = card.folder / "packed";
  ASSERT_OK(write_file_atomically(packed, std::string("\xfd") + "7zXZ and so on"));
  ASSERT_CONTAINS(message_of(find_boot_partition(packed)), "is compressed");
  ASSERT_CONTAINS(message_of(find_boot_partition(card.folder / "none")), "No such file");
}

TEST("What a killed command has left is overwritten, too") {
  need_mtools();
  const Card card;
  const fs::path half = card.folder / "half";
  ASSERT_OK(write_file_atomically(half, std::string(9000, 'a') + "LEFT-KEY"));
  ASSERT_OK(
      run_program({"mcopy", "-i", card.boot_partition(), half.string(), "::aflguard-identity.tar.new"}, "/"));
  TEST_ASSERT_TRUE(card.holds("LEFT-KEY"));
  card.put("aflguard-identity.tar", std::string(20'000, 'b'));
  TEST_ASSERT_FALSE(card.holds("LEFT-KEY"));
}
