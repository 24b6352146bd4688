#include "edge_client/sending/refusal_response.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::edge;
using namespace aflguard::testing;

namespace {

RefusalResponse response_to(RefusalReason reason, bool proven) {
  RefusalMessage refusal;
  refusal.reason = reason;
  refusal.proven = proven;
  refusal.come_back = std::chrono::seconds(9);
  refusal.text = "because";
  return respond_to(refusal, 7);
}

}  // namespace

TEST("Every reason has its response, and only what was proven ends an update") {
  for (int number = 64; number <= 255; ++number) {
    const auto reason = static_cast<RefusalReason>(number);
    const bool about_it = reason == RefusalReason::kMalformed || reason == RefusalReason::kNotFinite ||
                          reason == RefusalReason::kWrongFleet || reason == RefusalReason::kReplayed;
    TEST_ASSERT_TRUE(about_it == (response_to(reason, true).action == RefusalAction::kGiveUp));
    TEST_ASSERT_TRUE(response_to(reason, false).action != RefusalAction::kGiveUp);
  }
  TEST_ASSERT_TRUE(response_to(RefusalReason::kOverloaded, false).action == RefusalAction::kSendLater);
  TEST_ASSERT_TRUE(response_to(RefusalReason::kWrongModel, true).action == RefusalAction::kFetchModel);
  TEST_ASSERT_TRUE(response_to(RefusalReason::kExpired, false).action == RefusalAction::kAskForHelp);
}

TEST("The text names the update, the reason, what the gateway said and what to do") {
  const RefusalResponse expired = response_to(RefusalReason::kExpired, false);
  ASSERT_CONTAINS(expired.text, "update 7 was refused (expired): because; renew the certificate");
  TEST_ASSERT_EQUAL_INT64(9000, expired.wait.count());
  ASSERT_CONTAINS(response_to(static_cast<RefusalReason>(200), false).text, "(reason-200): because");
}
