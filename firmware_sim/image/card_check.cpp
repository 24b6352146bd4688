#include "firmware_sim/image/card_check.h"

#include <fstream>
#include <sstream>

#include "firmware_sim/image/boot_partition.h"
#include "firmware_sim/image/image_plan.h"

namespace aflguard::image {
namespace fs = std::filesystem;
namespace {

bool is_digit(char letter) {
  return letter >= '0' && letter <= '9';
}

}  // namespace

std::string mount_point_of(const fs::path& card, const std::string& mounts) {
  const std::string device = card.string();
  std::istringstream lines(mounts);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string source;
    std::string place;
    words >> source >> place;
    if (!source.starts_with(device)) continue;
    // sdX1 and mmcblk0p1 are parts of sdX and mmcblk0; sdXY and mmcblk01 are not.
    const std::string rest = source.substr(device.size());
    if (rest.empty() || (is_digit(device.back()) ? rest[0] == 'p' : is_digit(rest[0]))) return place;
  }
  return {};
}

Status prepare_card(const fs::path& card, std::uint64_t offset) {
  std::error_code error;
  TRY(const std::string label, boot_partition_label(card, offset));
  if (label != kBootLabel) {
    return invalid_input(card.string() + ": its first partition is called '" + label + "' and not " +
                         kBootLabel + ": no image of aflguard image build is on it");
  }
  if (fs::is_regular_file(card, error)) {
    fs::permissions(card, fs::perms::owner_read | fs::perms::owner_write, error);
    if (error) return io_error("cannot close " + card.string() + " to others: " + error.message());
    return {};
  }
  std::ifstream in("/proc/self/mounts");
  const std::string mounts((std::istreambuf_iterator<char>(in)), {});
  const std::string place = mount_point_of(fs::canonical(card, error), mounts);
  if (place.empty()) return {};
  return invalid_input(card.string() + " is in use at " + place + "; unmount it first: sudo umount " + place);
}

}  // namespace aflguard::image
