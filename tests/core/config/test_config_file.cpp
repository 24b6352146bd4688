#include <cmath>
#include <fstream>
#include <limits>

#include "core/config/config_file.h"
#include "tests/support/test.h"

using namespace aflguard;
using aflguard::testing::message_of;
using aflguard::testing::TemporaryFolder;

namespace {

ConfigFile parsed(std::string_view text) {
  auto file = ConfigFile::parse(text, "conf/client.toml");
  ASSERT_OK(file);
  return *file;
}

}  // namespace

TEST("Values come out as they are written, and missing ones as their defaults") {
  auto file = parsed(R"(
[broker]
host = "gateway.example"
port = 1883
[training]
rate = 2
share = 0.5
quiet = true
hours = ["22:00-06:00", "12:00-13:00"]
mode = "slow"
)");
  auto broker = file.table("broker");
  TEST_ASSERT_EQUAL_STRING("gateway.example", broker.text("host").c_str());
  TEST_ASSERT_EQUAL_INT64(1883, broker.integer_or("port", 8883, 1, 65535));
  TEST_ASSERT_EQUAL_STRING("auto", broker.choice_or("protocol", "auto", {"auto", "5"}).c_str());
  auto training = file.table("training");
  TEST_ASSERT_EQUAL_DOUBLE(2, training.number("rate", 0, 10));
  TEST_ASSERT_EQUAL_DOUBLE(0.5, training.number_or("share", 1, 0, 1));
  TEST_ASSERT_EQUAL_DOUBLE(7, training.number_or("absent", 7, 0, 10));
  TEST_ASSERT_TRUE(training.boolean_or("quiet", false));
  TEST_ASSERT_EQUAL_size_t(2, training.texts_or("hours", {}).size());
  TEST_ASSERT_EQUAL_STRING("slow", training.choice("mode", {"slow", "fast"}).c_str());
  TEST_ASSERT_FALSE(training.optional_integer("seed", 0, 9).has_value());
  TEST_ASSERT_FALSE(file.optional_table("evaluation").has_value());
  ASSERT_OK(file.finish());
}

TEST("Relative paths stand beside the file, absolute ones stay") {
  auto file = parsed("[model]\npackage = \"../model\"\nruntime = \"/opt/lib.so\"\n");
  auto model = file.table("model");
  TEST_ASSERT_EQUAL_STRING("model", model.path("package").c_str());
  TEST_ASSERT_EQUAL_STRING("/opt/lib.so", model.optional_path("runtime")->c_str());
  TEST_ASSERT_EQUAL_STRING("conf/state/x.db", model.path_or("store", "state/x.db").c_str());
  ASSERT_OK(file.finish());
}

TEST("An unknown key is refused with file, line and the nearest known key") {
  auto file = parsed("[training]\ninterval_second = 5\n");
  (void)file.table("training").number_or("interval_seconds", 0, 0, 100);
  TEST_ASSERT_EQUAL_STRING(
      "conf/client.toml:2: unknown key 'interval_second' in [training]; did you mean 'interval_seconds'?",
      message_of(file.finish()).c_str());
}

TEST("An unknown section is refused, with the nearest known one") {
  auto file = parsed("[brokr]\nhost = \"a\"\n");
  (void)file.optional_table("broker");
  TEST_ASSERT_EQUAL_STRING("conf/client.toml:1: unknown section [brokr]; did you mean [broker]?",
                           message_of(file.finish()).c_str());
}

TEST("A key that resembles nothing is refused with the list of what is known") {
  auto file = parsed("[broker]\nzzzzzzzzzzzzzz = 5\n");
  (void)file.table("broker").text_or("host", "localhost");
  ASSERT_CONTAINS(message_of(file.finish()), "unknown key 'zzzzzzzzzzzzzz' in [broker] (known: host)");
}

TEST("A number outside its range is refused with the value and the range, NaN included") {
  auto file = parsed("[a]\nlow = -1\nhigh = 1.5\nnan = nan\nport = 65536\n");
  auto a = file.table("a");
  (void)a.number("low", 0, 1);
  (void)a.number("high", 0, 1);
  (void)a.number("nan", 0, std::numeric_limits<double>::infinity());
  (void)a.integer("port", 1, 65535);
  const auto problems = file.problems();
  TEST_ASSERT_EQUAL_size_t(4, problems.size());
  TEST_ASSERT_EQUAL_STRING("conf/client.toml:2: [a] low is -1, must be 0 to 1", problems[0].c_str());
  TEST_ASSERT_EQUAL_STRING("conf/client.toml:3: [a] high is 1.5, must be 0 to 1", problems[1].c_str());
  ASSERT_CONTAINS(problems[2], "[a] nan is ");
  TEST_ASSERT_EQUAL_STRING("conf/client.toml:5: [a] port is 65536, must be 1 to 65535", problems[3].c_str());
  ASSERT_CONTAINS(message_of(file.finish()), "(and 3 more)");
}

TEST("A value of another kind is refused with what it is and what it must be") {
  auto file =
      parsed("[a]\nport = \"8883\"\nname = 5\nlist = [1]\nflag = 1\nday = 2024-01-01\nempty = \"\"\n");
  auto a = file.table("a");
  (void)a.integer("port", 1, 65535);
  (void)a.text("name");
  (void)a.texts_or("list", {});
  (void)a.boolean_or("flag", false);
  (void)a.number("day", 0, 1);
  (void)a.text("empty");
  const auto problems = file.problems();
  TEST_ASSERT_EQUAL_size_t(6, problems.size());
  ASSERT_CONTAINS(problems[0], "[a] port is \"8883\", must be a whole number");
  ASSERT_CONTAINS(problems[1], "[a] name is 5, must be a text in quotes");
  ASSERT_CONTAINS(problems[2], "[a] list holds 1, must be a list of texts");
  ASSERT_CONTAINS(problems[3], "[a] flag is 1, must be true or false");
  ASSERT_CONTAINS(problems[4], "[a] day is a date or a time, must be a number");
  ASSERT_CONTAINS(problems[5], "[a] empty is empty");
}

TEST("A required key that is missing is named once, in a section that is missing too") {
  auto file = parsed("");
  (void)file.table("broker").text("host");
  const auto problems = file.problems();
  TEST_ASSERT_EQUAL_size_t(1, problems.size());
  TEST_ASSERT_EQUAL_STRING("conf/client.toml: [broker] host is missing", problems[0].c_str());
}

TEST("A word outside the list is refused with the list") {
  auto file = parsed("[data]\nformat = \"cvs\"\n");
  (void)file.table("data").choice("format", {"csv", "idx"});
  ASSERT_CONTAINS(message_of(file.finish()), R"([data] format is "cvs", must be one of: "csv" "idx")");
}

TEST("A section of free names gives numbers, and only numbers") {
  auto file = parsed("[guard]\nname = \"x\"\n[guard.options]\nbuffers = 3\nshare = 0.5\n");
  auto guard = file.table("guard");
  (void)guard.text("name");
  const auto options = guard.numbers("options");
  TEST_ASSERT_EQUAL_DOUBLE(3, options.at("buffers"));
  TEST_ASSERT_EQUAL_DOUBLE(0.5, options.at("share"));
  ASSERT_OK(file.finish());

  auto bad = parsed("[guard.options]\nbuffers = \"three\"\n");
  (void)bad.table("guard").numbers("options");
  ASSERT_CONTAINS(message_of(bad.finish()),
                  "client.toml:2: [guard.options] buffers is \"three\", must be a number");
}

TEST("A key that does not go together with another is reported by name") {
  auto file = parsed("[data]\nimages = \"x\"\n");
  auto data = file.table("data");
  data.report("images", "belongs to format = \"idx\"");
  data.report("labels", "belongs to format = \"idx\"");
  TEST_ASSERT_EQUAL_STRING("conf/client.toml:2: [data] images belongs to format = \"idx\"",
                           message_of(file.finish()).c_str());
}

TEST("A section where a value stands, and keys of the root, are seen") {
  auto file = parsed("broker = 5\nname = \"x\"\nother = 1\n");
  (void)file.table("broker");
  TEST_ASSERT_EQUAL_STRING("x", file.root().text("name").c_str());
  const auto problems = file.problems();
  TEST_ASSERT_EQUAL_size_t(2, problems.size());
  ASSERT_CONTAINS(problems[0], "client.toml:1: broker is 5, must be a section [broker]");
  ASSERT_CONTAINS(problems[1], "client.toml:3: unknown key 'other'");
}

TEST("What is not TOML is refused in one line with file and line") {
  for (const char* text : {"[broker\nhost = 1\n", "[a]\nx = \n", "[a]\nx = 1\nx = 2\n", "\xff\xfe", "= 3"}) {
    const auto file = ConfigFile::parse(text, "client.toml");
    TEST_ASSERT_FALSE_MESSAGE(file.ok(), text);
    ASSERT_CONTAINS(message_of(file), "client.toml:");
    TEST_ASSERT_TRUE_MESSAGE(message_of(file).find('\n') == std::string::npos, message_of(file).c_str());
  }
}

TEST("Only comments and blank lines are an empty file") {
  for (const char* text : {"", "\n\n", "# a\n  # b\n"}) ASSERT_OK(parsed(text).finish());
}

TEST("A file that is missing or far too large is refused") {
  const TemporaryFolder folder;
  TEST_ASSERT_TRUE(ConfigFile::read(folder / "none.toml").error().kind == ErrorKind::kNotFound);
  std::ofstream(folder / "large.toml") << std::string((1u << 20) + 1, '#');
  ASSERT_CONTAINS(message_of(ConfigFile::read(folder / "large.toml")), "the limit is 1048576");
}

TEST("The level of the log is one of four words") {
  auto file = parsed("[log]\nlevel = \"debug\"\n");
  TEST_ASSERT_TRUE(read_log_level(file.table("log")) == LogLevel::kDebug);
  ASSERT_OK(file.finish());
  auto none = parsed("");
  TEST_ASSERT_TRUE(read_log_level(none.table("log")) == LogLevel::kInfo);
}

TEST("Keys of a file that is laid over another take the place of its keys, and errors name the right file") {
  auto lower = ConfigFile::parse("[a]\nx = 1\ny = 2\n[b]\nz = 3\n", "/etc/lower.toml").value();
  const auto upper =
      ConfigFile::parse("[a]\n\ny = 20\n[c]\nw = \"no number\"\n[b]\nz = true\n", "/etc/upper.toml").value();
  lower.lay_over(upper);
  auto a = lower.table("a");
  TEST_ASSERT_EQUAL_INT(1, a.integer("x", 0, 100));
  TEST_ASSERT_EQUAL_INT(20, a.integer("y", 0, 100));
  (void)lower.table("c").integer("w", 0, 100);
  (void)lower.table("b").integer("z", 0, 100);
  const auto problems = lower.problems();
  TEST_ASSERT_EQUAL_size_t(2, problems.size());
  ASSERT_CONTAINS(problems[0], "/etc/upper.toml:5: [c] w is");
  ASSERT_CONTAINS(problems[1], "/etc/upper.toml:7: [b] z is true");
  (void)a.integer("x", 5, 100);
  ASSERT_CONTAINS(lower.problems()[0], "/etc/lower.toml:2: [a] x is 1");
}
