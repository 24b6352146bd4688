#include <map>

#include "tests/architecture/source_tree.h"
#include "tests/support/test.h"

using namespace aflguard::testing;

namespace {

/// More than a reader takes in at once; a larger folder holds two subjects.
constexpr std::size_t kMostSources = 32;

std::string too_large(const std::vector<SourceFile>& files) {
  std::map<std::string, std::size_t> sizes;
  for (const SourceFile& file : files) ++sizes[folder_of(file.path)];
  std::string found;
  for (const auto& [folder, size] : sizes) {
    if (size > kMostSources)
      found += folder + " has " + std::to_string(size) + " sources, more than " +
               std::to_string(kMostSources) + "\n";
  }
  return found;
}

}  // namespace

TEST("No product folder has more than 32 sources") {
  const std::vector<SourceFile> files = product_sources(source_folder());
  TEST_ASSERT_TRUE_MESSAGE(files.size() > 300, "the source tree was not found");
  const std::string found = too_large(files);
  assert_no_violation(found);
}

TEST("The rule finds a folder that is one source too large") {
  std::vector<SourceFile> files(kMostSources, {"core/base/x.h", ""});
  files.push_back({"core/base/deeper/x.h", ""});
  TEST_ASSERT_EQUAL_STRING("", too_large(files).c_str());
  files.push_back({"core/base/y.inc", ""});
  ASSERT_CONTAINS(too_large(files), "core/base has 33 sources");
}
