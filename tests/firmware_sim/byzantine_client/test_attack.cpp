#include "firmware_sim/byzantine_client/attack.h"
#include "lab/attacks/all_attacks.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::sim;
using aflguard::testing::message_of;

TEST("An attack that does not exist is named with its nearest neighbour") {
  ASSERT_CONTAINS(message_of(check_attack("gaus")), "did you mean 'gauss'?");
  TEST_ASSERT_FALSE(check_attack("none").ok());
}

TEST("An attack that needs what a live device does not see is refused by name, with the reason") {
  TEST_ASSERT_EQUAL_STRING(
      "attack 'adapt-fang' needs the updates of the honest devices, which a live device does not see",
      message_of(check_attack("adapt-fang")).c_str());
}

TEST("Help lists every attack of the one list, and names those that can be carried out") {
  const std::string list = attack_list();
  const std::string names = ", " + attack_names() + ", ";
  for (const lab::AttackKind& kind : lab::all_attacks()) {
    const std::string name(kind.name);
    ASSERT_CONTAINS(list, "\n  " + name + ": ");
    const bool live = lab::missing_on_device(kind).empty();
    TEST_ASSERT_EQUAL_MESSAGE(live, names.find(", " + name + ", ") != std::string::npos, name.c_str());
    TEST_ASSERT_EQUAL_MESSAGE(live, check_attack(name).ok(), name.c_str());
  }
  ASSERT_CONTAINS(list, "\n  adapt-reverse: adaptive, reversed: -100 times the device's own honest update");
}
