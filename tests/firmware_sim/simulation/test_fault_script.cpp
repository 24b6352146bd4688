#include <map>
#include <set>

#include "firmware_sim/simulation/fault_script.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;
using namespace std::chrono_literals;

TEST("The same seed gives the same faults, another one others") {
  const ScriptSettings settings{7, 120s, {"sim-01", "sim-02", "sim-03"}, true};
  TEST_ASSERT_TRUE(make_fault_script(settings) == make_fault_script(settings));
  ScriptSettings other = settings;
  other.seed = 8;
  TEST_ASSERT_FALSE(make_fault_script(settings) == make_fault_script(other));
}

TEST("Faults come in order, are over in time, and those of one target do not overlap") {
  std::set<FaultKind> kinds;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto script = make_fault_script({seed, 90s, {"sim-01", "sim-02"}, true});
    TEST_ASSERT_FALSE(script.empty());
    std::map<std::string, std::chrono::milliseconds> free_at;
    auto last = 0ms;
    for (const Fault& fault : script) {
      TEST_ASSERT_TRUE(fault.at >= last);
      last = fault.at;
      TEST_ASSERT_TRUE(fault.duration > 0ms);
      TEST_ASSERT_TRUE(fault.at + fault.duration <= 90s);
      TEST_ASSERT_TRUE(fault.at >= free_at[fault.target]);
      free_at[fault.target] = fault.at + fault.duration;
      TEST_ASSERT_EQUAL(fault.kind == FaultKind::kSlow, fault.bytes_per_second > 0);
      kinds.insert(fault.kind);
    }
  }
  TEST_ASSERT_EQUAL_size_t(5, kinds.size());
}

TEST("A script that may not touch the gateway touches boards alone") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    for (const Fault& fault : make_fault_script({seed, 60s, {"sim-01"}, false}))
      TEST_ASSERT_EQUAL_STRING("sim-01", fault.target.c_str());
  }
}

TEST("Even the shortest script breaks something, and is over in time") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const auto script = make_fault_script({seed, 3s, {"sim-01"}, true});
    TEST_ASSERT_FALSE(script.empty());
    TEST_ASSERT_TRUE(script.front().at + script.front().duration <= 3s);
  }
}
