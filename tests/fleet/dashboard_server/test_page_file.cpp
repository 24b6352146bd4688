#include "core/system/atomic_file.h"
#include "fleet/dashboard_server/page_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
namespace fs = std::filesystem;

TEST("The page is the chosen file, the installed one, or the one that was built") {
  const testing::TemporaryFolder folder;
  const fs::path programs = folder / "build/release/bin";
  fs::create_directories(programs);
  ASSERT_CONTAINS(testing::message_of(read_page({}, programs)), "--page FILE");
  const auto put = [](const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    ASSERT_OK(write_file_atomically(file, text));
  };
  put(folder / "build/dashboard/index.html", "built");
  TEST_ASSERT_EQUAL_STRING("built", read_page({}, programs).value().c_str());
  put(folder / "build/release/share/aflguard/dashboard/index.html", "installed");
  TEST_ASSERT_EQUAL_STRING("installed", read_page({}, programs).value().c_str());
  put(folder / "mine.html", "mine");
  TEST_ASSERT_EQUAL_STRING("mine", read_page(folder / "mine.html", programs).value().c_str());
  TEST_ASSERT_FALSE(read_page(folder / "none.html", programs).ok());
}
