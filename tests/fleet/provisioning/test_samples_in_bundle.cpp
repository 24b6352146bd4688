#include "core/system/atomic_file.h"
#include "fleet/provisioning/samples_in_bundle.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> missing(const testing::TemporaryFolder& folder, const std::string& text) {
  ASSERT_OK(write_file_atomically(folder / "client.toml", text));
  const auto found = samples_not_in_bundle(folder.path());
  ASSERT_OK(found);
  return *found;
}

}  // namespace

TEST("Samples that are named and do not travel are found") {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "samples");
  ASSERT_OK(write_file_atomically(folder / "samples/a.csv", "1"));
  using Names = std::vector<std::string>;
  TEST_ASSERT_TRUE(missing(folder, "[data]\nfile = \"samples/a.csv\"\n").empty());
  TEST_ASSERT_TRUE(missing(folder, "[data]\nfile = \"./samples/../samples/a.csv\"\n").empty());
  TEST_ASSERT_TRUE(missing(folder, "[data]\nfile = \"/srv/none.csv\"\nfollow = true\n").empty());
  TEST_ASSERT_TRUE(missing(folder, "[state]\nfolder = \"state\"\n").empty());
  TEST_ASSERT_TRUE(missing(folder, "[data]\nfile = \"b.csv\"\n") == Names{"b.csv"});
  TEST_ASSERT_TRUE(missing(folder, "[data]\nfile = \"\"\n") == Names{""});
  TEST_ASSERT_TRUE(missing(folder, "[data]\nfile = \"samples\"\n") == Names{"samples"});
  const std::string outside = "../" + folder.path().filename().string() + "/samples/a.csv";
  TEST_ASSERT_TRUE(missing(folder, "[data]\nimages = \"" + outside + "\"\nlabels = \"l\"\n") ==
                   (Names{outside, "l"}));
}

TEST("A configuration that is none is an error with its name") {
  const testing::TemporaryFolder folder;
  ASSERT_CONTAINS(testing::message_of(samples_not_in_bundle(folder.path())), "client.toml");
  ASSERT_OK(write_file_atomically(folder / "client.toml", "[data\n"));
  ASSERT_CONTAINS(testing::message_of(samples_not_in_bundle(folder.path())), "client.toml:1");
}
