#include <thread>

#include "fleet/view/viewer_choice.h"
#include "tests/support/test_fleet.h"

using namespace aflguard;
using namespace aflguard::fleet;
using namespace aflguard::view;
using testing::TestFleet;

namespace {

ViewerRequest of(const TestFleet& fleet, const std::string& identity = {}) {
  return {fleet.folder().root.string(), identity, {}};
}

}  // namespace

TEST("A screen is the operator; while that one is in use it is another viewer of the fleet") {
  TestFleet fleet;
  ASSERT_OK(fleet.fleet->add_viewer("anna", std::nullopt, fleet.authority, fleet.clock));
  auto first = ViewerLease::choose(of(fleet), ViewerUse::kScreen);
  ASSERT_OK(first);
  TEST_ASSERT_EQUAL_STRING("operator", first->identity().name.c_str());
  auto second = ViewerLease::choose(of(fleet), ViewerUse::kScreen);
  ASSERT_OK(second);
  TEST_ASSERT_EQUAL_STRING("anna", second->identity().name.c_str());
  const auto third = ViewerLease::choose(of(fleet), ViewerUse::kScreen);
  ASSERT_CONTAINS(testing::message_of(third), "'operator' is in use");
  ASSERT_CONTAINS(testing::message_of(third), "fleet viewer add");
}

TEST("A lease ends with its object") {
  const TestFleet fleet;
  for (int i = 0; i < 2; ++i) {
    const auto lease = ViewerLease::choose(of(fleet, "operator"), ViewerUse::kScreen);
    ASSERT_OK(lease);
    TEST_ASSERT_FALSE(ViewerLease::choose(of(fleet, "operator"), ViewerUse::kScreen).ok());
  }
}

TEST("A short look takes the doctor's identity, and waits for others who only look") {
  const TestFleet fleet;
  std::optional<ViewerLease> held;
  auto first = ViewerLease::choose(of(fleet), ViewerUse::kShortLook);
  ASSERT_OK(first);
  TEST_ASSERT_EQUAL_STRING("doctor", first->identity().name.c_str());
  held.emplace(std::move(*first));
  std::string second;
  std::thread waiting([&] {
    const auto lease = ViewerLease::choose(of(fleet), ViewerUse::kShortLook);
    second = lease.ok() ? lease->identity().name : lease.error().message;
  });
  held.reset();
  waiting.join();
  TEST_ASSERT_EQUAL_STRING("doctor", second.c_str());
}

TEST("An identity that is unknown, revoked or without its key is named") {
  TestFleet fleet;
  ASSERT_CONTAINS(testing::message_of(ViewerLease::choose(of(fleet, "anna"), ViewerUse::kScreen)),
                  "has no viewer 'anna'");
  ASSERT_CONTAINS(testing::message_of(ViewerLease::choose(of(fleet, "../x"), ViewerUse::kScreen)), "../x");
  std::filesystem::remove(fleet.folder().viewer("operator") / "operator.key");
  ASSERT_CONTAINS(testing::message_of(ViewerLease::choose(of(fleet), ViewerUse::kScreen)), "operator.key");
  const testing::TemporaryFolder empty;
  ASSERT_CONTAINS(
      testing::message_of(ViewerLease::choose({empty.path().string(), {}, {}}, ViewerUse::kScreen)),
      "fleet.toml");
}
