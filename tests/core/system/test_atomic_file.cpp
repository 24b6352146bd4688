#include <array>
#include <iterator>
#include <sys/stat.h>

#include "core/system/atomic_file.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST("A written file reads back, and no temporary neighbour stays") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "a.txt", "one"));
  ASSERT_OK(write_file_atomically(folder / "a.txt", "two"));
  TEST_ASSERT_EQUAL_STRING("two", read_text_file(folder / "a.txt")->c_str());
  TEST_ASSERT_EQUAL_size_t(1, entries(folder.path()));
}

TEST("Parts stand one after the other in the file; a file of no parts is empty") {
  const testing::TemporaryFolder folder;
  const std::string_view text = "head and body";
  const auto bytes = std::as_bytes(std::span(text));
  const std::array<std::span<const std::byte>, 3> parts = {bytes.first(5), {}, bytes.subspan(5)};
  ASSERT_OK(write_file_atomically(folder / "a", parts));
  TEST_ASSERT_EQUAL_STRING("head and body", read_text_file(folder / "a")->c_str());
  ASSERT_OK(write_file_atomically(folder / "a", std::span(parts).first(0)));
  TEST_ASSERT_EQUAL_STRING("", read_text_file(folder / "a")->c_str());
  TEST_ASSERT_EQUAL_size_t(1, entries(folder.path()));
}

TEST("A file for its owner only has that mode whatever the umask says") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(folder / "key", "secret", FileAccess::kOwnerOnly));
  TEST_ASSERT_TRUE(fs::status(folder / "key").permissions() == fs::perms(0600));
  ASSERT_OK(write_file_atomically(folder / "key", "open"));
  TEST_ASSERT_TRUE((fs::status(folder / "key").permissions() & fs::perms::others_read) != fs::perms::none);
}

TEST("A write that fails leaves the folder as it was") {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "target");
  ASSERT_OK(write_file_atomically(folder / "target/inner", "x"));
  // A folder that is not empty cannot be replaced by a file.
  TEST_ASSERT_FALSE(write_file_atomically(folder / "target", "text").ok());
  TEST_ASSERT_EQUAL_size_t(1, entries(folder.path()));
}

TEST("Devices, pipes and folders are never replaced by a file, nor links to them; links to files are") {
  const testing::TemporaryFolder folder;
  TEST_ASSERT_EQUAL_INT(0, ::mkfifo((folder / "pipe").c_str(), 0600));
  fs::create_directory(folder / "empty");
  fs::create_symlink("/dev/null", folder / "null");
  for (const char* name : {"pipe", "empty", "null"}) {
    ASSERT_CONTAINS(testing::message_of(write_file_atomically(folder / name, "x")), "is not a regular file");
  }
  TEST_ASSERT_TRUE(fs::is_fifo(folder / "pipe"));
  TEST_ASSERT_TRUE(fs::is_symlink(folder / "null"));
  TEST_ASSERT_EQUAL_size_t(3, entries(folder.path()));
  fs::create_symlink("nowhere", folder / "link");
  ASSERT_OK(write_file_atomically(folder / "link", "x"));
  fs::create_symlink("link", folder / "link2");
  ASSERT_OK(write_file_atomically(folder / "link2", "y"));
  TEST_ASSERT_EQUAL_STRING("y", read_text_file(folder / "link2")->c_str());
}

TEST("A missing file, a folder and a file over the limit are named") {
  const testing::TemporaryFolder folder;
  TEST_ASSERT_TRUE(read_file(folder / "none").error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(testing::message_of(read_file(folder.path())), "not a regular file");
  ASSERT_OK(write_file_atomically(folder / "big", "12345"));
  ASSERT_CONTAINS(testing::message_of(read_file(folder / "big", 4)), "has 5 bytes, the limit is 4");
  ASSERT_OK(read_file(folder / "big", 5));
}

TEST("A staged folder appears whole at commit and not at all without it") {
  const testing::TemporaryFolder folder;
  {
    auto staged = StagedDirectory::create(folder / "out", false);
    ASSERT_OK(staged);
    ASSERT_OK(write_file_atomically(staged->path() / "x", "1"));
  }
  TEST_ASSERT_EQUAL_size_t(0, entries(folder.path()));
  {
    auto staged = StagedDirectory::create(folder / "out", false);
    ASSERT_OK(staged);
    ASSERT_OK(write_file_atomically(staged->path() / "x", "1"));
    ASSERT_OK(staged->commit());
  }
  TEST_ASSERT_TRUE(fs::exists(folder / "out/x"));
  TEST_ASSERT_EQUAL_size_t(1, entries(folder.path()));
}

TEST("A staged folder refuses to replace one that holds files unless told to") {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "out");
  ASSERT_OK(write_file_atomically(folder / "out/keep", "1"));
  ASSERT_CONTAINS(testing::message_of(StagedDirectory::create(folder / "out", false)), "exists already");
  auto staged = StagedDirectory::create(folder / "out", true);
  ASSERT_OK(staged);
  ASSERT_OK(staged->commit());
  TEST_ASSERT_FALSE(fs::exists(folder / "out/keep"));
}
