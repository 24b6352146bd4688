#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "unity.h"
// Its stand-ins for a C library without them break <cmath>.
#undef isinf
#undef isnan

namespace aflguard::testing {

/// Adds one test to this program's list; TEST below is how tests do it.
struct Registration {
  Registration(const char* sentence, void (*body)(), const char* file, int line);
};

/// Where files are written without waiting for a disk, on machines that have such a place.
[[nodiscard]] std::filesystem::path memory_folder();

/// A new folder for one test, removed with everything in it at the end.
class TemporaryFolder final {
 public:
  explicit TemporaryFolder(const std::filesystem::path& parent = std::filesystem::temp_directory_path());
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The checkout that this test was built from, for golden files and examples.
[[nodiscard]] std::filesystem::path source_folder();

void assert_contains(std::string_view text, std::string_view part, int line);

template <typename T>
void assert_ok(const Result<T>& result, int line) {
  if (!result.ok()) UNITY_TEST_FAIL(line, result.error().message.c_str());
}

/// The error's message, for tests that expect a failure.
template <typename T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? std::string("(no error)") : result.error().message;
}

}  // namespace aflguard::testing

/// TEST("A sentence that says what holds") { ... }
#define TEST(sentence) AFLGUARD_NUMBERED_TEST(sentence, __COUNTER__)
#define AFLGUARD_NUMBERED_TEST(sentence, number)                                         \
  static void AFLGUARD_CONCAT(test_, number)();                                          \
  static const ::aflguard::testing::Registration AFLGUARD_CONCAT(registration_, number)( \
      sentence, &AFLGUARD_CONCAT(test_, number), __FILE__, __LINE__);                    \
  static void AFLGUARD_CONCAT(test_, number)()

#define ASSERT_OK(result) ::aflguard::testing::assert_ok(result, __LINE__)
#define ASSERT_CONTAINS(text, part) ::aflguard::testing::assert_contains(text, part, __LINE__)
