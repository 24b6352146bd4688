#include "core/system/atomic_file.h"
#include "tests/fleet/doctor/findings_of.h"
#include "tests/support/test_fleet.h"

using namespace aflguard;
using namespace aflguard::fleet;
using testing::FixedClock;
using testing::TestFleet;
namespace fs = std::filesystem;

namespace {

Findings look_at(const TestFleet& fleet, const Clock& clock = SystemClock()) {
  Findings findings;
  TEST_ASSERT_TRUE(examine_files(findings, fleet.folder(), clock));
  return findings;
}

void append(const fs::path& file, const std::string& text) {
  ASSERT_OK(write_file_atomically(file, read_text_file(file).value() + text));
}

}  // namespace

TEST("A new fleet's files are as they should be") {
  TestFleet fleet;
  fleet.add("pi-1");
  const Findings findings = look_at(fleet);
  TEST_ASSERT_EQUAL_STRING(
      "", findings.count(FindingLevel::kProblem) == 0 ? "" : findings_text(findings, false).c_str());
  for (const char* check :
       {"fleet", "certificate-authority", "certificate-broker", "certificate-gateway", "certificate-operator",
        "certificate-devices", "revocation-list", "access-list", "broker-configuration"}) {
    ASSERT_FINDING(findings, check, FindingLevel::kOk, "");
  }
}

TEST("A folder that is not a fleet's is named, and nothing else is looked at") {
  const testing::TemporaryFolder folder;
  Findings findings;
  TEST_ASSERT_FALSE(examine_files(findings, FleetFolder{folder.path()}, SystemClock()));
  TEST_ASSERT_EQUAL_size_t(1, findings.list().size());
  ASSERT_FINDING(findings, "fleet", FindingLevel::kProblem, "fleet.toml");
}

TEST("Lists and settings of the broker that were changed by hand are found") {
  const TestFleet fleet;
  append(fleet.folder().access_list(), "\nuser stranger\ntopic readwrite #\n");
  append(fleet.folder().broker() / "mosquitto.conf", "\nallow_anonymous true\n");
  const Findings findings = look_at(fleet);
  ASSERT_FINDING(findings, "access-list", FindingLevel::kProblem, "is not what the device book asks for");
  ASSERT_FINDING(findings, "broker-configuration", FindingLevel::kProblem, "allow_anonymous");
}

TEST("A revocation list that is missing or broken is found") {
  const TestFleet fleet;
  ASSERT_OK(write_file_atomically(fleet.folder().revocation_list(), std::string("nothing")));
  ASSERT_FINDING(look_at(fleet), "revocation-list", FindingLevel::kProblem, "revo");
  fs::remove(fleet.folder().revocation_list());
  ASSERT_FINDING(look_at(fleet), "revocation-list", FindingLevel::kProblem, "");
}

TEST("An authority's folder and keys that others can read are found") {
  const TestFleet fleet;
  fs::permissions(fleet.folder().authority(), fs::perms(0755));
  const fs::path key = fleet.folder().gateway() / "gateway.key";
  fs::permissions(key, fs::perms(0644));
  const Findings findings = look_at(fleet);
  ASSERT_FINDING(findings, "permissions-authority", FindingLevel::kProblem, "is open to others");
  ASSERT_FINDING(findings, "certificate-gateway", FindingLevel::kProblem, "has mode 0644");
}

TEST("Certificates that end soon are a warning, those that have ended a problem") {
  TestFleet fleet;
  fleet.add("pi-1");
  FixedClock clock;
  const auto lifetime = std::chrono::days(fleet.fleet->settings().certificate_days);
  clock.now += lifetime - std::chrono::days(10);
  const Findings soon = look_at(fleet, clock);
  ASSERT_FINDING(soon, "certificate-broker", FindingLevel::kWarning, "ends");
  ASSERT_FINDING(soon, "certificate-devices", FindingLevel::kWarning, "pi-1");
  clock.now += std::chrono::days(20);
  const Findings late = look_at(fleet, clock);
  ASSERT_FINDING(late, "certificate-broker", FindingLevel::kProblem, "ended");
  ASSERT_FINDING(late, "certificate-devices", FindingLevel::kProblem, "pi-1");
}

TEST("A clock behind the files' own times is found") {
  const TestFleet fleet;
  FixedClock clock;
  clock.now -= std::chrono::minutes(20);
  ASSERT_FINDING(look_at(fleet, clock), "clock-files", FindingLevel::kProblem, "the clock says");
}
