#pragma once

#include <filesystem>

namespace aflguard::testing {

/// A file system of a few megabytes at `folder`, for tests that fill it. Only this process and those it
/// starts from now on see it, so it is gone with them whatever happens. Skips the test where that is not
/// allowed: it takes the right to mount.
class SmallDisk final {
 public:
  SmallDisk(std::filesystem::path folder, std::size_t megabytes);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk();

  /// Not one byte more fits, until make_room().
  void fill();
  void make_room();

 private:
  std::filesystem::path folder_;
};

}  // namespace aflguard::testing
