#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "core/system/secret_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;
namespace fs = std::filesystem;

namespace {

fs::path write_secret(const fs::path& path, const std::string& text, mode_t mode) {
  std::ofstream(path) << text;
  TEST_ASSERT_EQUAL_INT(0, ::chmod(path.c_str(), mode));
  return path;
}

}  // namespace

TEST("A key that its owner alone can read is read; any other mode is refused with the mending command") {
  const TemporaryFolder folder;
  const fs::path path = folder / "device.key";
  for (const mode_t mode : {0600, 0400, 0700}) {
    write_secret(path, "secret", mode);
    TEST_ASSERT_EQUAL_STRING("secret", read_secret_file(path)->c_str());
    TEST_ASSERT_EQUAL_INT(0, ::chmod(path.c_str(), 0600));
  }
  for (const mode_t mode : {0640, 0604, 0660, 0644, 0610, 0601}) {
    TEST_ASSERT_EQUAL_INT(0, ::chmod(path.c_str(), mode));
    const auto refused = read_secret_file(path);
    TEST_ASSERT_TRUE(refused.error().kind == ErrorKind::kInvalidInput);
    ASSERT_CONTAINS(message_of(refused), "run: chmod 600 " + path.string());
  }
  ASSERT_CONTAINS(message_of(read_secret_file(path)), "(mode 0601)");
}

TEST("A folder, a missing file and a file that is too large are refused") {
  const TemporaryFolder folder;
  TEST_ASSERT_TRUE(read_secret_file(folder / "none").error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(message_of(read_secret_file(folder.path())), "not a regular file");
  ASSERT_OK(read_secret_file(write_secret(folder / "most", std::string(64 * 1024, 'x'), 0600)));
  ASSERT_CONTAINS(
      message_of(read_secret_file(write_secret(folder / "more", std::string(64 * 1024 + 1, 'x'), 0600))),
      "the limit is 65536");
}

TEST("A link counts as the file that it leads to") {
  const TemporaryFolder folder;
  const fs::path key = write_secret(folder / "key", "secret", 0600);
  fs::create_symlink(key, folder / "link");
  TEST_ASSERT_EQUAL_STRING("secret", read_secret_file(folder / "link")->c_str());
  TEST_ASSERT_EQUAL_INT(0, ::chmod(key.c_str(), 0644));
  ASSERT_CONTAINS(message_of(read_secret_file(folder / "link")), "may be read by others");
}

TEST("A key of another user is refused, with both users named") {
  const TemporaryFolder folder;
  const fs::path key = write_secret(folder / "key", "secret", 0600);
  if (::chown(key.c_str(), 12345, 12345) != 0) {
    TEST_IGNORE_MESSAGE("giving a file to another user needs root");
  }
  const std::string message = message_of(read_secret_file(key));
  ASSERT_CONTAINS(message, "belongs to user 12345, and this is user " + std::to_string(::geteuid()));
  ASSERT_CONTAINS(message, "chown");
}
