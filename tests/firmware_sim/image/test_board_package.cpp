#include "core/system/atomic_file.h"
#include "core/system/child_process.h"
#include "firmware_sim/image/board_package.h"
#include "tests/support/test.h"

using namespace aflguard;
namespace fs = std::filesystem;

namespace {

/// A package with nothing in it.
fs::path make_package(const testing::TemporaryFolder& folder, const std::string& name,
                      const std::string& architecture, const std::string& file) {
  fs::create_directories(folder / "p/DEBIAN");
  ASSERT_OK(write_file_atomically(folder / "p/DEBIAN/control",
                                  "Package: " + name + "\nVersion: 1:2.0-3\nArchitecture: " + architecture +
                                      "\nMaintainer: a <a@example.org>\nDescription: b\n"));
  const auto outcome = run_program({"dpkg-deb", "--build", "p", file}, folder.path());
  ASSERT_OK(outcome);
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->output.c_str());
  return folder / file;
}

}  // namespace

TEST("A package says what it is, whatever its file is called") {
  const testing::TemporaryFolder folder;
  const auto found = image::look_at_packages({make_package(folder, "aflguard-client", "arm64", "one.bin"),
                                              make_package(folder, "extra", "all", "two.deb")});
  ASSERT_OK(found);
  TEST_ASSERT_EQUAL_STRING("aflguard-client", found->front().name.c_str());
  TEST_ASSERT_EQUAL_STRING("1:2.0-3", found->front().version.c_str());
  TEST_ASSERT_TRUE(found->front().file == folder / "one.bin");
  TEST_ASSERT_EQUAL_STRING("extra", found->back().name.c_str());
}

TEST("Files that boards cannot install are refused by name") {
  const testing::TemporaryFolder folder;
  const auto problem = [&](const std::vector<fs::path>& files) {
    return testing::message_of(image::look_at_packages(files));
  };
  const fs::path client = make_package(folder, "aflguard-client", "arm64", "client.deb");
  ASSERT_CONTAINS(problem({folder / "none.deb"}), "there is no package");
  ASSERT_OK(write_file_atomically(folder / "text.deb", "text"));
  ASSERT_CONTAINS(problem({client, folder / "text.deb"}), "text.deb: dpkg-deb: error");
  ASSERT_CONTAINS(problem({make_package(folder, "aflguard-client", "amd64", "pc.deb")}),
                  "pc.deb is for amd64; boards need arm64");
  ASSERT_CONTAINS(problem({make_package(folder, "other", "arm64", "other.deb")}), "none of the packages is");
  ASSERT_CONTAINS(problem({}), "none of the packages is");
  ASSERT_CONTAINS(problem({client, client}), "is aflguard-client once more");
}
