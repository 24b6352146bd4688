#include <fstream>

#include "edge_client/status/board_readings.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;

namespace {

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

}  // namespace

TEST("A board that tells nothing has no facts") {
  const TemporaryFolder root;
  const BoardReadings facts = read_board(root.path());
  TEST_ASSERT_FALSE(facts.temperature_c.has_value() || facts.memory_free_mb.has_value());
}

TEST("The processor's temperature comes before that of other sensors") {
  const TemporaryFolder root;
  write(root / "sys/class/thermal/thermal_zone0/temp", "31000\n");
  write(root / "sys/class/thermal/thermal_zone0/type", "battery\n");
  TEST_ASSERT_EQUAL_DOUBLE(31, *read_board(root.path()).temperature_c);
  write(root / "sys/class/thermal/thermal_zone1/temp", "51540\n");
  write(root / "sys/class/thermal/thermal_zone1/type", "cpu-thermal\n");
  TEST_ASSERT_EQUAL_DOUBLE(51.54, *read_board(root.path()).temperature_c);
}

TEST("A temperature that no board lives in, and text that is not a number, are not reported") {
  const TemporaryFolder root;
  write(root / "sys/class/thermal/thermal_zone0/temp", "-274000\n");
  write(root / "sys/class/thermal/thermal_zone1/temp", "hot\n");
  write(root / "proc/meminfo", "MemAvailable: much\n");
  const BoardReadings facts = read_board(root.path());
  TEST_ASSERT_FALSE(facts.temperature_c.has_value() || facts.memory_free_mb.has_value());
}

TEST("Free memory is what programs can still have") {
  const TemporaryFolder root;
  write(root / "proc/meminfo", "MemTotal: 1000000 kB\nMemFree: 1024 kB\nMemAvailable:  317440 kB\n");
  TEST_ASSERT_EQUAL_UINT64(310, *read_board(root.path()).memory_free_mb);
}

TEST("The limit of memory is the board's, or the least of the control groups that the process is in") {
  TemporaryFolder folder;
  const std::filesystem::path root = folder.path();
  TEST_ASSERT_FALSE(memory_limit_mb(root).has_value());
  write(root / "proc/meminfo", "MemTotal: 524288 kB\nMemAvailable: 1024 kB\n");
  TEST_ASSERT_EQUAL_UINT64(512, *memory_limit_mb(root));
  write(root / "proc/self/cgroup", "1:name=x:/else\n0::/system.slice/aflguard-client.service\n");
  write(root / "sys/fs/cgroup/system.slice/aflguard-client.service/memory.max", "max\n");
  TEST_ASSERT_EQUAL_UINT64(512, *memory_limit_mb(root));
  write(root / "sys/fs/cgroup/system.slice/memory.max", "268435456\n");
  TEST_ASSERT_EQUAL_UINT64(256, *memory_limit_mb(root));
  write(root / "sys/fs/cgroup/system.slice/aflguard-client.service/memory.max", "104857600\n");
  TEST_ASSERT_EQUAL_UINT64(100, *memory_limit_mb(root));
}
