#include <fcntl.h>
#include <unistd.h>

#include "core/base/progress.h"
#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

/// What `work` writes to standard error, which is a file meanwhile, not a terminal.
template <typename Work>
std::string stderr_of(Work work) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path path = folder / "stderr";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(file, STDERR_FILENO);
  work();
  std::fflush(stderr);
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(file);
  return *read_text_file(path);
}

}  // namespace

TEST("Away from a terminal each piece of work is one plain line, however often it is shown") {
  const std::string text = stderr_of([] {
    StderrProgress progress;
    for (std::size_t i = 0; i <= 100; ++i) progress.show("first", i, 100);
    progress.show("second", 0, 0);
    progress.finish();
    progress.show("second", 0, 0);
  });
  TEST_ASSERT_EQUAL_STRING("first\nsecond\nsecond\n", text.c_str());
}
