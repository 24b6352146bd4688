#include <zlib.h>

#include "core/base/sha256.h"
#include "core/system/atomic_file.h"
#include "datasets/mnist.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

struct Copy {
  testing::TemporaryFolder folder;
  fs::path source = folder / "source";
  fs::path target = folder / "target";
  SilentProgress progress;
  std::vector<PinnedFile> files = {{"images", 5, sha256_hex("abcde")}};
  Copy() {
    fs::create_directories(source);
    fs::create_directories(target);
  }
  Status run() { return copy_pinned_files(files, source, target, progress); }
};

void write_gzip(const fs::path& path, const std::string& text) {
  gzFile file = gzopen(path.c_str(), "wb");
  TEST_ASSERT_NOT_NULL(file);
  TEST_ASSERT_EQUAL_INT(static_cast<int>(text.size()),
                        gzwrite(file, text.data(), static_cast<unsigned>(text.size())));
  TEST_ASSERT_EQUAL_INT(Z_OK, gzclose(file));
}

}  // namespace

TEST("Published files are copied plain, whether they come plain or compressed") {
  Copy copy;
  ASSERT_OK(write_file_atomically(copy.source / "images", "abcde"));
  ASSERT_OK(copy.run());
  TEST_ASSERT_EQUAL_STRING("abcde", read_text_file(copy.target / "images")->c_str());
  Copy packed;
  write_gzip(packed.source / "images.gz", "abcde");
  ASSERT_OK(packed.run());
  TEST_ASSERT_EQUAL_STRING("abcde", read_text_file(packed.target / "images")->c_str());
}

TEST("A published file that is missing, cut short or changed is named") {
  Copy copy;
  ASSERT_CONTAINS(message_of(copy.run()), "neither images nor images.gz is in " + copy.source.string());
  ASSERT_OK(write_file_atomically(copy.source / "images", "abcd"));
  ASSERT_CONTAINS(message_of(copy.run()), (copy.source / "images").string() + " has 4 bytes, expected 5");
  ASSERT_OK(write_file_atomically(copy.source / "images", "abcdE"));
  ASSERT_CONTAINS(message_of(copy.run()), "has SHA-256");
  fs::remove(copy.source / "images");
  write_gzip(copy.source / "images.gz", "abcdef");
  ASSERT_CONTAINS(message_of(copy.run()), "images.gz: the gzip data holds more than the expected 5 bytes");
  TEST_ASSERT_TRUE(fs::is_empty(copy.target));
}
