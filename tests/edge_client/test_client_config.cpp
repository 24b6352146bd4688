#include <set>
#include <thread>

#include "core/system/atomic_file.h"
#include "edge_client/client_config.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

const std::string kLeast =
    "[fleet]\nname = \"f\"\ndevice = \"d\"\n[broker]\nhost = \"h\"\n[data]\nformat = \"csv\"\nfile = "
    "\"t.csv\"\n";

struct Reading {
  ClientConfig config;
  std::vector<std::string> problems;
};

Reading reading(const std::string& text) {
  auto file = ConfigFile::parse(text, "dir/client.toml");
  ASSERT_OK(file);
  ClientConfig config = read_client_config(*file);
  return {config, file->problems()};
}

std::string example() {
  return read_text_file(testing::source_folder() / "edge_client/client.example.toml").value();
}

/// The example with every option that is commented out in force.
std::string example_in_full() {
  std::string text;
  std::istringstream lines(example());
  for (std::string line; std::getline(lines, line);) {
    const bool is_option = line.starts_with("# ") && line.find(" = ") != std::string::npos &&
                           line.find(' ', 2) == line.find(" = ");
    text += (is_option ? line.substr(2) : line) + "\n";
  }
  return text;
}

}  // namespace

TEST("The state folder's default is the caller's, the file's own word counts first") {
  auto silent = ConfigFile::parse(kLeast, "dir/client.toml");
  TEST_ASSERT_EQUAL_STRING("/var/lib/x", read_client_config(*silent, "/var/lib/x").state_folder.c_str());
  auto given = ConfigFile::parse(kLeast + "[state]\nfolder = \"here\"\n", "dir/client.toml");
  TEST_ASSERT_EQUAL_STRING("dir/here", read_client_config(*given, "/var/lib/x").state_folder.c_str());
}

TEST("Three sections are enough; everything else has a default") {
  const Reading least = reading(kLeast);
  TEST_ASSERT_TRUE_MESSAGE(least.problems.empty(), least.problems.empty() ? "" : least.problems[0].c_str());
  const ClientConfig& config = least.config;
  TEST_ASSERT_EQUAL_INT(8883, config.port);
  TEST_ASSERT_EQUAL_STRING("auto", config.protocol.c_str());
  TEST_ASSERT_TRUE(config.answer_wait == 30s && config.status_interval == 30s);
  TEST_ASSERT_EQUAL_STRING("dir/device.key", config.key.c_str());
  TEST_ASSERT_EQUAL_STRING("dir/model", config.model_package.c_str());
  TEST_ASSERT_EQUAL_STRING("dir/state", config.state_folder.c_str());
  TEST_ASSERT_TRUE(config.schedule.interval == 0s && config.schedule.quiet_hours.empty());
  TEST_ASSERT_FALSE(config.seed.has_value() || config.runtime.has_value() || config.follow);
}

TEST(
    "A limit of several cores is used by as many threads as there are cores, unless the file says "
    "otherwise") {
  TEST_ASSERT_EQUAL_INT(1, default_threads(0.25, 4));
  TEST_ASSERT_EQUAL_INT(1, default_threads(1.9, 4));
  TEST_ASSERT_EQUAL_INT(3, default_threads(3, 4));
  TEST_ASSERT_EQUAL_INT(4, default_threads(1024, 4));
  TEST_ASSERT_EQUAL_INT(1, default_threads(4, 0));  // how many there are is not known
  TEST_ASSERT_EQUAL_INT(1, reading(kLeast).config.threads);
  TEST_ASSERT_EQUAL_INT(
      3, reading(kLeast + "[training]\ncpu_limit = 0.5\n[model]\nthreads = 3\n").config.threads);
  const Reading most = reading(kLeast + "[training]\ncpu_limit = 1024\n");
  TEST_ASSERT_EQUAL_INT(default_threads(1024, std::thread::hardware_concurrency()), most.config.threads);
}

TEST("The example file is a working configuration with the defaults that it shows") {
  const Reading plain = reading(example());
  TEST_ASSERT_TRUE_MESSAGE(plain.problems.empty(), plain.problems.empty() ? "" : plain.problems[0].c_str());
}

TEST("The example file mentions every key, and nothing but keys") {
  // With everything in force, only keys that exclude each other are in each other's way.
  const Reading full = reading(example_in_full());
  std::set<std::string> complaints;
  for (const std::string& problem : full.problems) {
    TEST_ASSERT_TRUE_MESSAGE(problem.find("unknown") == std::string::npos, problem.c_str());
    complaints.insert(
        problem.substr(problem.find(": ") + 2, problem.find(" goes with") - problem.find(": ") - 2));
  }
  TEST_ASSERT_TRUE(complaints == (std::set<std::string>{"[data] images", "[data] features", "[data] labels",
                                                        "[data] keep_samples", "[topic] filter"}));
  // A key that the reader asks for and the example lacks would be missing here.
  auto file = ConfigFile::parse("[x]\nunknown = 1\n", "c.toml");
  ASSERT_OK(file);
  (void)read_client_config(*file);
  for (const auto& [section, key] : file->known_keys()) {
    ASSERT_CONTAINS(example_in_full(), "\n" + key + " = ");
  }
}

TEST("Names that could not be topics, and spans that are none, are refused with their line") {
  const auto problem = [](const std::string& from, const std::string& to) {
    std::string text = kLeast + "[training]\nquiet_hours = []\n";
    text.replace(text.find(from), from.size(), to);
    const Reading wrong = reading(text);
    return wrong.problems.empty() ? std::string("(none)") : wrong.problems[0];
  };
  ASSERT_CONTAINS(problem("\"d\"", "\"a/b\""),
                  "dir/client.toml:3: [fleet] device is \"a/b\", must be letters");
  ASSERT_CONTAINS(problem("\"f\"", "\"+\""), ":2: [fleet] name is \"+\"");
  ASSERT_CONTAINS(problem("[]", "[\"25:00-26:00\"]"),
                  ":10: [training] quiet_hours '25:00-26:00' is not a time");
}

TEST("A growing table is a table, and has no fixed part") {
  ASSERT_CONTAINS(reading(kLeast + "follow = true\nfirst = 3\n").problems.at(0),
                  "first does not go with follow");
  std::string idx = kLeast;
  idx.replace(idx.find("csv"), 3, "idx");
  idx.replace(idx.find("file"), 4, "images");
  ASSERT_CONTAINS(reading(idx + "labels = \"l\"\nfollow = true\n").problems.at(0),
                  "follow goes with format = \"csv\"");
  ASSERT_CONTAINS(reading(kLeast + "keep_samples = 5\n").problems.at(0),
                  "keep_samples goes with follow = true");
  TEST_ASSERT_EQUAL_size_t(5, reading(kLeast + "follow = true\nkeep_samples = 5\n").config.keep_samples);
}

TEST("The encoding of updates is one by name, or chosen for each of them") {
  TEST_ASSERT_FALSE(reading(kLeast).config.encoding.has_value());
  TEST_ASSERT_FALSE(reading(kLeast + "[training]\nencoding = \"auto\"\n").config.encoding.has_value());
  TEST_ASSERT_TRUE(reading(kLeast + "[training]\nencoding = \"int4\"\n").config.encoding == Encoding::kInt4);
  const Reading wrong = reading(kLeast + "[training]\nencoding = \"int16\"\n");
  TEST_ASSERT_EQUAL_size_t(1, wrong.problems.size());
  ASSERT_CONTAINS(wrong.problems[0], "encoding");
}

TEST("An export, its command and a topic are read, and keys without what they belong to are reported") {
  const Reading full = reading(kLeast +
                               "follow = true\n[model]\nexport = \"m.onnx\"\nexport_interval_seconds = 2\n"
                               "on_model = [\"a\", \"b\"]\n[topic]\nfilter = \"x/#\"\npayload = \"json\"\n"
                               "fields = [\"t\", 1]\nport = 1884\n");
  TEST_ASSERT_TRUE_MESSAGE(full.problems.empty(), full.problems.empty() ? "" : full.problems[0].c_str());
  TEST_ASSERT_EQUAL_STRING("dir/m.onnx", full.config.model_export.file.c_str());
  TEST_ASSERT_TRUE(full.config.model_export.interval == 2s);
  TEST_ASSERT_EQUAL_size_t(2, full.config.model_export.on_model.size());
  TEST_ASSERT_TRUE(full.config.topic->rows.json);
  TEST_ASSERT_TRUE((full.config.topic->rows.fields == std::vector<std::string>{"t", "1"}));
  TEST_ASSERT_EQUAL_INT(1884, full.config.topic->port);
  const auto problem = [](const std::string& more) {
    const Reading wrong = reading(kLeast + more);
    return wrong.problems.empty() ? std::string("(none)") : wrong.problems[0];
  };
  ASSERT_CONTAINS(problem("[model]\non_model = [\"a\"]\n"), "on_model goes with export");
  ASSERT_CONTAINS(problem("[topic]\nfields = [\"a\"]\n"), "fields goes with filter");
  ASSERT_CONTAINS(problem("[topic]\nfilter = \"a\"\n"), "filter goes with follow = true");
  ASSERT_CONTAINS(problem("follow = true\n[topic]\nfilter = \"a\"\npayload = \"json\"\n"),
                  "must name the columns");
  ASSERT_CONTAINS(problem("follow = true\n[topic]\nfilter = \"a\"\nkey = \"k\"\n"), "key goes with ca");
}

TEST("What the owner wrote into client.local.toml counts more than the bundle's client.toml") {
  const testing::TemporaryFolder folder;
  ASSERT_OK(write_file_atomically(
      folder / "client.toml",
      "[fleet]\nname = \"f\"\ndevice = \"pi-1\"\n[broker]\nhost = \"h\"\n[data]\nformat = "
      "\"csv\"\nfile = \"data.csv\"\n[training]\ncpu_limit = 1.0\n"));
  const auto limit = [&] {
    auto file = read_client_file(folder / "client.toml");
    ASSERT_OK(file);
    const ClientConfig config = read_client_config(*file);
    ASSERT_OK(file->finish());
    TEST_ASSERT_TRUE(config.data.features == folder / "data.csv");
    return config.schedule.cpu_limit;
  };
  TEST_ASSERT_EQUAL_DOUBLE(1.0, limit());
  ASSERT_OK(write_file_atomically(folder / "client.local.toml", "[training]\ncpu_limit = 0.25\n"));
  TEST_ASSERT_EQUAL_DOUBLE(0.25, limit());
  ASSERT_OK(write_file_atomically(folder / "client.local.toml", "[training]\ncpu_limit = \n"));
  const auto broken = read_client_file(folder / "client.toml");
  TEST_ASSERT_FALSE(broken.ok());
  ASSERT_CONTAINS(broken.error().message, "client.local.toml");
}
