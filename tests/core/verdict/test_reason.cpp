#include <map>
#include <string>

#include "core/verdict/reason.h"
#include "tests/support/test.h"

using namespace aflguard;

namespace {

/// What is stored in every database and sent to every device. A line is added, never changed.
const std::map<int, std::string> kGolden = {
    {0, "accepted"},   {1, "buffered"},        {2, "too-far"},      {3, "against-reference"},
    {4, "too-steep"},  {5, "too-frequent"},    {6, "not-finite"},   {7, "wrong-size"},
    {8, "too-old"},    {9, "unknown-version"}, {10, "overflow"},    {11, "residual-too-long"},
    {64, "malformed"}, {65, "oversized"},      {66, "unsupported"}, {67, "unknown-key"},
    {68, "revoked"},   {69, "bad-signature"},  {70, "wrong-fleet"}, {71, "wrong-model"},
    {72, "replayed"},  {73, "not-finite"},     {74, "overloaded"},  {75, "foreign-sender"},
    {76, "expired"},   {77, "paused"},
};

template <typename Enum>
void assert_number(int number, Enum reason) {
  TEST_ASSERT_EQUAL_INT(number, static_cast<int>(reason));
  TEST_ASSERT_EQUAL_STRING(kGolden.at(number).c_str(), std::string(to_string(reason)).c_str());
}

}  // namespace

TEST("Every number from 0 to 255 has the name that it always had, and none has gained one unseen") {
  for (int number = 0; number < 256; ++number) {
    const auto known = kGolden.find(number);
    const std::string expected = known == kGolden.end() ? "reason-" + std::to_string(number) : known->second;
    TEST_ASSERT_EQUAL_STRING(expected.c_str(), reason_name(static_cast<std::uint8_t>(number)).c_str());
  }
}

TEST("Every reason of the guard has its number and name") {
  assert_number(0, Reason::kAccepted);
  assert_number(1, Reason::kBuffered);
  assert_number(2, Reason::kTooFar);
  assert_number(3, Reason::kAgainstReference);
  assert_number(4, Reason::kTooSteep);
  assert_number(5, Reason::kTooFrequent);
  assert_number(6, Reason::kNotFinite);
  assert_number(7, Reason::kWrongSize);
  assert_number(8, Reason::kTooOld);
  assert_number(9, Reason::kUnknownVersion);
  assert_number(10, Reason::kOverflow);
  assert_number(11, Reason::kResidualTooLong);
}

TEST("Every reason to refuse has its number and name") {
  assert_number(64, RefusalReason::kMalformed);
  assert_number(65, RefusalReason::kOversized);
  assert_number(66, RefusalReason::kUnsupported);
  assert_number(67, RefusalReason::kUnknownKey);
  assert_number(68, RefusalReason::kRevoked);
  assert_number(69, RefusalReason::kBadSignature);
  assert_number(70, RefusalReason::kWrongFleet);
  assert_number(71, RefusalReason::kWrongModel);
  assert_number(72, RefusalReason::kReplayed);
  assert_number(73, RefusalReason::kNotFinite);
  assert_number(74, RefusalReason::kOverloaded);
  assert_number(75, RefusalReason::kForeignSender);
  assert_number(76, RefusalReason::kExpired);
  assert_number(77, RefusalReason::kPaused);
}

TEST("A number without a name is unknown to both kinds") {
  TEST_ASSERT_EQUAL_STRING("unknown", std::string(to_string(static_cast<Reason>(63))).c_str());
  TEST_ASSERT_EQUAL_STRING("unknown", std::string(to_string(static_cast<RefusalReason>(200))).c_str());
}
