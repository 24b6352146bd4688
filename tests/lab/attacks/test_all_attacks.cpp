#include <set>

#include "lab/attacks/all_attacks.h"
#include "lab/runs/experiment.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

TEST("Every attack has its own name, fit for a file name and a command line, and a summary") {
  std::set<std::string_view> names = {"none"};
  TEST_ASSERT_TRUE(all_attacks().size() >= 35);
  for (const AttackKind& kind : all_attacks()) {
    TEST_ASSERT_TRUE_MESSAGE(names.insert(kind.name).second, kind.name.data());
    TEST_ASSERT_EQUAL_size_t(std::string_view::npos,
                             kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"));
    TEST_ASSERT_FALSE_MESSAGE(kind.summary.empty(), kind.name.data());
    TEST_ASSERT_TRUE(find_attack(all_attacks(), kind.name).value() == &kind);
  }
}

TEST("An attack that is another one on a device says what it is there") {
  for (const AttackKind& kind : all_attacks()) {
    TEST_ASSERT_TRUE_MESSAGE(kind.on_device.empty() == (kind.make_on_device == nullptr), kind.name.data());
  }
}

TEST("Every option of an attack has a meaning and a range that holds its default") {
  for (const AttackKind& kind : all_attacks()) {
    std::set<std::string_view> names;
    for (const NamedOption& option : kind.options) {
      TEST_ASSERT_TRUE_MESSAGE(names.insert(option.name).second, option.name.data());
      TEST_ASSERT_FALSE_MESSAGE(option.meaning.empty(), option.name.data());
      TEST_ASSERT_TRUE_MESSAGE(option.low <= option.default_value && option.default_value <= option.high,
                               option.name.data());
    }
  }
}

TEST("The lab plays every attack against every guard, and the model stays finite") {
  for (const GuardKind& guard : full_catalog().guards) {
    for (const AttackKind& attack : all_attacks()) {
      if (attack.targeted) continue;  // synthetic data has no classes
      auto settings = default_settings("synthetic").value();
      settings.clients = 5;
      settings.malicious = 0.4;
      settings.iterations = 12;
      settings.guard = guard.name;
      settings.attack = attack.name;
      const auto result = run_experiment(settings, full_catalog(), linear_model(), nullptr);
      const std::string played = std::string(attack.name) + " against " + std::string(guard.name);
      TEST_ASSERT_TRUE_MESSAGE(result.ok(), (played + ": " + message_of(result)).c_str());
      TEST_ASSERT_TRUE_MESSAGE(*result->metrics.mee < 1e37, played.c_str());
      TEST_ASSERT_TRUE_MESSAGE(result->accepted.malicious + result->rejected.malicious > 0, played.c_str());
    }
  }
}

TEST("What a live device cannot have is named, the most telling need first") {
  const auto missing = [](std::string_view name) {
    return std::string(missing_on_device(*find_attack(all_attacks(), name).value()));
  };
  TEST_ASSERT_EQUAL_STRING("", missing("gd").c_str());
  TEST_ASSERT_EQUAL_STRING("", missing("adapt-boundary").c_str());
  ASSERT_CONTAINS(missing("adapt-fang"), "the updates of the honest devices");
  ASSERT_CONTAINS(missing("adapt-sign"), "the gateway's reference update");
  ASSERT_CONTAINS(missing("own"), "the guard's state");
  ASSERT_CONTAINS(missing("sybil"), "a new identity");
  ASSERT_CONTAINS(missing("bd"), "the number of devices");
}
