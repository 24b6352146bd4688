#include "tests/support/small_disk.h"

#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>
#include <vector>

#include "tests/support/test.h"

namespace aflguard::testing {

SmallDisk::SmallDisk(std::filesystem::path folder, std::size_t megabytes) : folder_(std::move(folder)) {
  std::filesystem::create_directories(folder_);
  const std::string size = "size=" + std::to_string(megabytes) + "m";
  if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", folder_.c_str(), "tmpfs", 0, size.c_str()) != 0) {
    TEST_IGNORE_MESSAGE("needs the right to mount a small file system");
  }
}

SmallDisk::~SmallDisk() {
  (void)::umount2(folder_.c_str(), MNT_DETACH);
}

void SmallDisk::fill() {
  const int file = ::open((folder_ / "ballast").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  TEST_ASSERT_TRUE(file >= 0);
  for (std::size_t size = 1 << 20; size > 0;) {
    const std::vector<char> block(size);
    if (::write(file, block.data(), size) <= 0) size /= 2;
  }
  TEST_ASSERT_EQUAL_INT(ENOSPC, errno);
  ::close(file);
}

void SmallDisk::make_room() {
  std::filesystem::remove(folder_ / "ballast");
}

}  // namespace aflguard::testing
