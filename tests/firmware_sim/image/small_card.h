#pragma once

#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "firmware_sim/image/boot_partition.h"
#include "tests/support/test.h"

namespace aflguard::image {

inline constexpr std::uint64_t kSmallOffset = 1 << 20;
inline constexpr std::uint64_t kSmallBytes = 48 << 20;

inline void need_mtools() {
  if (run_program({"sh", "-c", "command -v mshowfat"}, "/")->exit_code != 0)
    TEST_IGNORE_MESSAGE("mtools is not installed");
}

/// An image with a boot partition alone, as aflguard image build makes it.
struct SmallCard {
  testing::TemporaryFolder folder;
  std::filesystem::path image = folder / "card.img";

  SmallCard() {
    std::string sector(512, '\0');
    sector[446 + 4] = '\x0c';
    for (std::size_t i = 0; i < 4; ++i) {
      sector[446 + 8 + i] = static_cast<char>(kSmallOffset / 512 >> (8 * i));
      sector[446 + 12 + i] = static_cast<char>(kSmallBytes / 512 >> (8 * i));
    }
    sector[510] = '\x55';
    sector[511] = '\xaa';
    ASSERT_OK(write_file_atomically(image, sector));
    std::filesystem::resize_file(image, kSmallOffset + kSmallBytes);
    ASSERT_OK(format_boot_partition(image, kSmallOffset, kSmallBytes));
  }
  [[nodiscard]] std::string boot_partition() const {
    return image.string() + "@@" + std::to_string(kSmallOffset);
  }
};

}  // namespace aflguard::image
