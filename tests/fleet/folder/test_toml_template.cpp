#include "fleet/folder/toml_template.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::fleet;

namespace {

constexpr const char* kExample =
    "# All options.\n"
    "\n"
    "[fleet]\n"
    "name = \"example\"  # of the fleet; \"#\" is not a comment\n"
    "\n"
    "# Where the broker is.\n"
    "[broker]\n"
    "host = \"localhost\"\n"
    "# port = 8883     # of the listener\n"
    "\n"
    "# Keeps what happened.\n"
    "# [recording]\n"
    "# folder = \"recording\"\n";

}  // namespace

TEST("Filling in a value keeps explanations, order and everything else") {
  TomlTemplate text(kExample);
  text.set("fleet", "name", toml_text("fleet \"7\""));
  text.set("broker", "port", "1234");
  TEST_ASSERT_EQUAL_STRING(
      "# All options.\n"
      "\n"
      "[fleet]\n"
      "name = \"fleet \\\"7\\\"\"  # of the fleet; \"#\" is not a comment\n"
      "\n"
      "# Where the broker is.\n"
      "[broker]\n"
      "host = \"localhost\"\n"
      "port = 1234     # of the listener\n"
      "\n"
      "# Keeps what happened.\n"
      "# [recording]\n"
      "# folder = \"recording\"\n",
      text.text().c_str());
}

TEST("A section that is commented out comes into force with its first value") {
  TomlTemplate text(kExample);
  text.set("recording", "folder", "\"x\"");
  ASSERT_CONTAINS(text.text(), "# Keeps what happened.\n[recording]\nfolder = \"x\"\n");
}

TEST("A replaced section has the given lines, and the comment of the next one stays") {
  TomlTemplate text(kExample);
  text.replace_section("broker", {"host = \"h\""});
  ASSERT_CONTAINS(text.text(), "[broker]\nhost = \"h\"\n\n# Keeps what happened.\n# [recording]\n");
}

TEST("Control characters in a text are escaped") {
  TEST_ASSERT_EQUAL_STRING("\"a\\u000ab\\\\\"", toml_text("a\nb\\").c_str());
}
