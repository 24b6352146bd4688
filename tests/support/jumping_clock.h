#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/system/atomic_file.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// The date that a program sees, set by a test while it runs, with Debian's libfaketime. Time itself goes on
/// as it does: that is what a machine does whose clock is set.
class JumpingClock final {
 public:
  /// Skips the test where there is no libfaketime, or where it does not work.
  explicit JumpingClock(const std::filesystem::path& folder) : file_(folder / "date"), library_(library()) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    TEST_IGNORE_MESSAGE("sanitizers and libfaketime both want to be loaded first");
#elif defined(__aarch64__)
    // Under emulation the host's library would be found, which the board's programs cannot load.
    TEST_IGNORE_MESSAGE("libfaketime is of another architecture, or was not tried on this one");
#endif
    if (library_.empty()) TEST_IGNORE_MESSAGE("libfaketime is not installed");
    set("+0");
  }

  /// In libfaketime's words: "+6h", "-2d". "+0" is the truth.
  void set(const std::string& offset) {
    ASSERT_OK(write_file_atomically(file_, offset + "\n"));
  }

  /// For the program's environment.
  [[nodiscard]] std::vector<std::string> environment() const {
    return {"LD_PRELOAD=" + library_, "FAKETIME_TIMESTAMP_FILE=" + file_.string(), "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "DONT_FAKE_MONOTONIC=1"};
  }

 private:
  /// Wherever this machine's architecture keeps it.
  static std::string library() {
    std::error_code ignored;
    for (const auto& folder : std::filesystem::directory_iterator("/usr/lib", ignored)) {
      const auto library = folder.path() / "faketime" / "libfaketimeMT.so.1";
      if (std::filesystem::exists(library, ignored)) return library.string();
    }
    return {};
  }

  std::filesystem::path file_;
  std::string library_;
};

}  // namespace aflguard::testing
