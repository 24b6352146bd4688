#include <vector>

#include "gateway_server/intake/refusal_desk.h"
#include "tests/gateway_server/judging/fake_parts.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::gateway;
using namespace aflguard::testing;
using namespace std::chrono_literals;

namespace {

constexpr RefusalDesk::Time kDeskOpens{1000s};

struct Desk {
  KeptLog log;
  RefusalLog refusals{log};
  std::vector<RefusalMessage> answers;
  RefusalDesk desk{"orchard", refusals,
                   [this](RefusalMessage answer) { answers.push_back(std::move(answer)); }};
};

RefusedUpdate refused(RefusalReason reason, const std::string& text = "a reason") {
  return {.device = "pi-1", .transfer = 99, .sequence = 7, .proven = true, .refusal = refuse(reason, text)};
}

}  // namespace

TEST("A refusal is counted, logged and answered with all that is known") {
  Desk made;
  made.desk.refuse(refused(RefusalReason::kWrongModel, "two\nlines"), 0, kDeskOpens);
  TEST_ASSERT_EQUAL_UINT64(1, made.refusals.counts().at("wrong-model"));
  TEST_ASSERT_EQUAL_size_t(1, made.answers.size());
  const RefusalMessage& answer = made.answers[0];
  TEST_ASSERT_EQUAL_STRING("orchard", answer.fleet.c_str());
  TEST_ASSERT_EQUAL_STRING("pi-1", answer.device.c_str());
  TEST_ASSERT_EQUAL_UINT64(99, answer.transfer);
  TEST_ASSERT_EQUAL_UINT64(7, answer.sequence);
  TEST_ASSERT_TRUE(answer.proven);
  TEST_ASSERT_EQUAL_INT64(0, answer.come_back.count());
  TEST_ASSERT_EQUAL_STRING("two?lines", answer.text.c_str());
  ASSERT_OK(encode(answer));
}

TEST("A text of any length and content makes an answer that can be signed") {
  Desk made;
  made.desk.refuse(refused(RefusalReason::kMalformed, std::string(5000, '\x80')), 0, kDeskOpens);
  TEST_ASSERT_EQUAL_size_t(1, made.answers.size());
  ASSERT_OK(encode(made.answers[0]));
}

TEST("What names no transfer is counted and not answered, and repeats are answered once a second") {
  Desk made;
  RefusedUpdate noise = refused(RefusalReason::kMalformed);
  noise.transfer = 0;
  made.desk.refuse(noise, 0, kDeskOpens);
  TEST_ASSERT_EQUAL_size_t(0, made.answers.size());
  for (int i = 0; i < 20; ++i)
    made.desk.refuse(refused(RefusalReason::kOversized), 0, kDeskOpens + i * 100ms);
  TEST_ASSERT_EQUAL_size_t(2, made.answers.size());
  TEST_ASSERT_EQUAL_UINT64(20, made.refusals.counts().at("oversized"));
}

TEST("Who finds no room is told when to come back, and goes before newcomers then") {
  Desk made;
  TEST_ASSERT_FALSE(made.desk.comes_after_others("pi-2", kDeskOpens));
  made.desk.refuse(refused(RefusalReason::kOverloaded), 100, kDeskOpens);
  TEST_ASSERT_EQUAL_INT64(2500, made.answers.at(0).come_back.count());  // half of 100, at a pace of 20
  TEST_ASSERT_TRUE(made.desk.comes_after_others("pi-2", kDeskOpens + 2500ms));
  TEST_ASSERT_FALSE(made.desk.comes_after_others("pi-1", kDeskOpens + 2500ms));
  made.desk.let_in("pi-1");
  TEST_ASSERT_FALSE(made.desk.comes_after_others("pi-2", kDeskOpens + 2500ms));
}
