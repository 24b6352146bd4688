#include "core/base/version.h"
#include "tests/fleet/doctor/findings_of.h"
#include "tests/support/test_fleet.h"

using namespace aflguard;
using namespace aflguard::fleet;
using testing::FixedClock;
using testing::TestFleet;
namespace fs = std::filesystem;

TEST("The machine's programs, ONNX Runtime and clock are looked at") {
  Findings findings;
  examine_machine(findings, SystemClock(), /*with_fleet=*/false);
  ASSERT_FINDING(findings, "programs", FindingLevel::kOk, std::string("aflguard ") + kVersion);
  ASSERT_FINDING(findings, "clock", FindingLevel::kOk, "the clock says");
  (void)testing::finding_of(findings, "onnx-runtime");
  ASSERT_FINDING(findings, "program-mosquitto", FindingLevel::kOk, "broker: ");
}

TEST("A gateway that is not beside the program is only missed where a fleet runs") {
  // This test is not in the programs' folder.
  Findings findings;
  examine_machine(findings, SystemClock(), /*with_fleet=*/true);
  ASSERT_FINDING(findings, "program-gateway", FindingLevel::kWarning, "aflguard-gateway");
}

TEST("A clock before the program was made is wrong") {
  FixedClock clock;
  clock.now = std::chrono::system_clock::time_point(std::chrono::hours(24));
  Findings findings;
  examine_machine(findings, clock, false);
  ASSERT_FINDING(findings, "clock", FindingLevel::kProblem, "1970-01-02");
}

TEST("Little space is a warning, next to none a problem, and an unknown size is not mentioned") {
  Findings findings;
  examine_space(findings, "plenty", 50e9, 100e9, "it is");
  examine_space(findings, "little", 4e9, 100e9, "it is");
  examine_space(findings, "none", 5e7, 1e9, "it is");
  examine_space(findings, "unknown", 0, 0, "it is");
  ASSERT_FINDING(findings, "plenty", FindingLevel::kOk, "are free where it is");
  ASSERT_FINDING(findings, "little", FindingLevel::kWarning, "are free where it is");
  ASSERT_FINDING(findings, "none", FindingLevel::kProblem, "are free where it is");
  TEST_ASSERT_EQUAL_size_t(3, findings.list().size());
}

TEST("A key of another certificate, and a certificate of another fleet, are found") {
  const TestFleet fleet;
  const TestFleet other;
  const fs::path place = fleet.folder().gateway();
  const fs::path foreign = other.folder().gateway();
  const auto look = [](const fs::path& certificate, const fs::path& key, const fs::path& authority) {
    Findings findings;
    examine_identity(findings, "it", {certificate, key, authority}, SystemClock(), "renew it");
    return findings;
  };
  ASSERT_FINDING(look(place / "gateway.crt", place / "gateway.key", place / "ca.crt"), "it",
                 FindingLevel::kOk, "certificate of gateway ends");
  ASSERT_FINDING(look(place / "gateway.crt", foreign / "gateway.key", place / "ca.crt"), "it",
                 FindingLevel::kProblem, "is not the key of");
  ASSERT_FINDING(look(foreign / "gateway.crt", foreign / "gateway.key", place / "ca.crt"), "it",
                 FindingLevel::kProblem, "is not of the authority");
  ASSERT_FINDING(look(place / "none.crt", place / "gateway.key", place / "ca.crt"), "it",
                 FindingLevel::kProblem, "none.crt");
}
