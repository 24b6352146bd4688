#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <unistd.h>
#include <vector>

#include "tests/support/test.h"
#include "tests/support/test_aborted.h"

namespace aflguard::testing {
namespace {

struct TestCase {
  const char* sentence;
  void (*body)();
  const char* file;
  int line;
};

std::vector<TestCase>& test_cases() {
  static std::vector<TestCase> cases;
  return cases;
}

void run(const TestCase& test) {
  Unity.TestFile = test.file;
  Unity.CurrentTestName = test.sentence;
  Unity.CurrentTestLineNumber = static_cast<UNITY_LINE_TYPE>(test.line);
  Unity.NumberOfTests++;
  UNITY_CLR_DETAILS();
  try {
    test.body();
  } catch (const TestAborted&) {
    // Unity has noted the failure or the skip already.
  } catch (const std::exception& problem) {
    Unity.CurrentTestFailed = 1;
    std::printf("%s:%d:%s:FAIL: exception: %s", test.file, test.line, test.sentence, problem.what());
  }
  UnityConcludeTest();
}

}  // namespace

Registration::Registration(const char* sentence, void (*body)(), const char* file, int line) {
  test_cases().push_back({sentence, body, file, line});
}

std::filesystem::path memory_folder() {
  const std::filesystem::path shared = "/dev/shm";
  return ::access(shared.c_str(), W_OK) == 0 ? shared : std::filesystem::temp_directory_path();
}

TemporaryFolder::TemporaryFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "aflguard-test-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) TEST_FAIL_MESSAGE("cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path source_folder() {
  return AFLGUARD_SOURCE_DIR;
}

void assert_contains(std::string_view text, std::string_view part, int line) {
  if (text.find(part) != std::string_view::npos) return;
  const std::string message = "\"" + std::string(text) + "\" does not contain \"" + std::string(part) + "\"";
  UNITY_TEST_FAIL(static_cast<UNITY_UINT>(line), message.c_str());
}

}  // namespace aflguard::testing

void setUp() {}
void tearDown() {}

namespace {

/// `x` for tests/.../test_x.cpp.
std::string subject_of(const char* file) {
  const std::string stem = std::filesystem::path(file).stem().string();
  return stem.starts_with("test_") ? stem.substr(5) : stem;
}

}  // namespace

/// [SUBJECT [PART]]: runs every test of this program, or those of test_SUBJECT.cpp whose sentence contains
/// PART. Exit 0 when all passed, 77 when every test was skipped, else the number of failures.
int main(int argc, char** argv) {
  UnityBegin("");
  for (const auto& test : aflguard::testing::test_cases()) {
    if (argc > 1 && subject_of(test.file) != argv[1]) continue;
    if (argc > 2 && std::strstr(test.sentence, argv[2]) == nullptr) continue;
    aflguard::testing::run(test);
  }
  const bool all_skipped = Unity.NumberOfTests > 0 && Unity.TestIgnores == Unity.NumberOfTests;
  const bool none = Unity.NumberOfTests == 0;
  const int failures = UnityEnd();
  if (none) return 1;
  return all_skipped ? 77 : (failures > 100 ? 100 : failures);
}
