#include <cstdlib>

#include "datasets/folders.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

/// Sets the three variables that decide; an empty value is as good as none.
void set(const char* own, const char* xdg, const char* home) {
  ::setenv("AFLGUARD_DATA", own, 1);
  ::setenv("XDG_DATA_HOME", xdg, 1);
  ::setenv("HOME", home, 1);
}

}  // namespace

TEST("The data folder is the own variable, else the XDG data home, else below the home folder") {
  set("/a", "/x", "/h");
  TEST_ASSERT_EQUAL_STRING("/a", datasets::data_folder()->c_str());
  set("", "/x", "/h");
  TEST_ASSERT_EQUAL_STRING("/x/aflguard", datasets::data_folder()->c_str());
  set("", "relative", "/h");
  TEST_ASSERT_EQUAL_STRING("/h/.local/share/aflguard", datasets::data_folder()->c_str());
}

TEST("Without any of the three variables the error says which one to set") {
  set("", "", "");
  ASSERT_CONTAINS(testing::message_of(datasets::data_folder()), "set AFLGUARD_DATA");
}

TEST("The cache folder follows its own three variables") {
  ::setenv("AFLGUARD_CACHE", "", 1);
  ::setenv("XDG_CACHE_HOME", "", 1);
  ::setenv("HOME", "/h", 1);
  TEST_ASSERT_EQUAL_STRING("/h/.cache/aflguard", datasets::cache_folder()->c_str());
}
