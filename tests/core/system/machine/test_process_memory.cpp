#include <fcntl.h>
#include <fstream>
#include <sys/mman.h>
#include <vector>

#include "core/system/file_descriptor.h"
#include "core/system/machine/process_memory.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kSize = 64 * kPage;

/// A private mapping of a file of letters, read once, so that all of it is in memory.
class MappedFile {
 public:
  MappedFile(const std::filesystem::path& path, char letter) {
    std::ofstream(path) << std::string(kSize, letter);
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    memory_ = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.get(), 0);
    TEST_ASSERT_TRUE(memory_ != MAP_FAILED);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() { ::munmap(memory_, kSize); }

  [[nodiscard]] volatile char* bytes() const { return static_cast<volatile char*>(memory_); }
  void seal() const { TEST_ASSERT_EQUAL_INT(0, ::mprotect(memory_, kSize, PROT_READ)); }
  [[nodiscard]] std::size_t count(char letter) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < kSize; ++i) found += bytes()[i] == letter ? 1 : 0;
    return found;
  }

 private:
  void* memory_ = nullptr;
};

}  // namespace

TEST("Pages of files are given back and read again; a mapping with a changed page stays as it is") {
  const TemporaryFolder folder;
  const MappedFile clean(folder / "clean", 'c');
  const MappedFile changed(folder / "changed", 'd');
  TEST_ASSERT_EQUAL_size_t(kSize, clean.count('c'));
  TEST_ASSERT_EQUAL_size_t(kSize, changed.count('d'));
  changed.bytes()[5 * kPage] = '!';  // as the loader writes addresses into a library's constants
  clean.seal();
  changed.seal();
  const std::size_t released = release_file_pages();
  if (released == 0) TEST_IGNORE_MESSAGE("this kernel does not tell what is in memory");
  TEST_ASSERT_TRUE_MESSAGE(released >= kSize, "the file's pages were not given back");
  TEST_ASSERT_EQUAL_size_t(kSize, clean.count('c'));
  TEST_ASSERT_EQUAL_INT('!', changed.bytes()[5 * kPage]);
  TEST_ASSERT_EQUAL_size_t(kSize - 1, changed.count('d'));
  // What was just read is in memory again and can be given back again.
  TEST_ASSERT_TRUE(release_file_pages() >= kSize);
}
