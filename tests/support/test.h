#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "unity.h"

namespace aflguard::testing {

/// Adds one test to this program's list; TEST below is how tests do it.
struct Registration {
  Registration(const char* sentence, void (*body)(), const char* file, int line);
};

/// A new folder for one test, removed with everything in it at the end.
class TemporaryFolder final {
 public:
  TemporaryFolder();
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

#define AFLGUARD_TEST_NAME(line) AFLGUARD_CONCAT(test_at_line_, line)
/// TEST("A sentence that says what holds") { ... }
#define TEST(sentence)                                                                             \
  static void AFLGUARD_TEST_NAME(__LINE__)();                                                      \
  static const ::aflguard::testing::Registration AFLGUARD_CONCAT(registration_at_line_, __LINE__)( \
      sentence, &AFLGUARD_TEST_NAME(__LINE__), __FILE__, __LINE__);                                \
  static void AFLGUARD_TEST_NAME(__LINE__)()

#define ASSERT_OK(result) ::aflguard::testing::assert_ok(result, __LINE__)
#define ASSERT_CONTAINS(text, part) ::aflguard::testing::assert_contains(text, part, __LINE__)
