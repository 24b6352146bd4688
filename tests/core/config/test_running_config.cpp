#include "core/config/running_config.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

ConfigFile file(const std::string& text) {
  auto parsed = ConfigFile::parse(text, "file.toml");
  ASSERT_OK(parsed);
  return std::move(*parsed);
}

void assert_keys(const std::vector<std::string>& expected, const std::vector<std::string>& keys) {
  TEST_ASSERT_EQUAL_size_t(expected.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TEST_ASSERT_EQUAL_STRING(expected[i].c_str(), keys[i].c_str());
  }
}

}  // namespace

TEST("A new version of the file changes live keys at once and names those that need a restart") {
  RunningConfig running(file("[a]\nrate = 1\nport = 2\n[b]\nx = [1, 2]\n"), {"[a] rate", "[b]"});
  const ConfigChanges changes = running.follow(file("[a]\nrate = 2\nport = 3\n[b]\nx = [1, 3]\ny = \"\"\n"));
  assert_keys({"[a] rate", "[b] x", "[b] y"}, changes.live);
  assert_keys({"[a] port"}, changes.after_restart);
  TEST_ASSERT_EQUAL_STRING(
      "settings read again: in force now: [a] rate, [b] x, [b] y; in force after a restart: [a] port",
      changes.text().c_str());
}

TEST("A key that needs a restart is named until there was one, a live one once") {
  RunningConfig running(file("[a]\nrate = 1\nport = 2\n"), {"[a] rate"});
  const ConfigFile changed = file("[a]\nport = 3\n");
  assert_keys({"[a] rate"}, running.follow(changed).live);
  const ConfigChanges again = running.follow(changed);
  assert_keys({}, again.live);
  assert_keys({"[a] port"}, again.after_restart);
  TEST_ASSERT_EQUAL_STRING("settings read again: in force after a restart: [a] port", again.text().c_str());
}

TEST("Values that are written in another way are not changed") {
  RunningConfig running(file("[a]\nrate = 1\ntext = \"x\"\n"), {});
  const ConfigChanges changes = running.follow(file("[a]\ntext = 'x'  # same\nrate = 1.0\n"));
  TEST_ASSERT_EQUAL_STRING("settings read again: nothing has changed", changes.text().c_str());
}
