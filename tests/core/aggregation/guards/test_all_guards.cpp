#include <limits>
#include <set>

#include "core/aggregation/guards/all_guards.h"
#include "tests/core/aggregation/guards/guards.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::testing;

TEST("Every guard has its own name, fit for a file name and a command line, and a summary") {
  std::set<std::string_view> names;
  TEST_ASSERT_TRUE(all_guards().size() >= 7);
  for (const GuardKind& kind : all_guards()) {
    TEST_ASSERT_TRUE_MESSAGE(names.insert(kind.name).second, kind.name.data());
    TEST_ASSERT_EQUAL_size_t(std::string_view::npos,
                             kind.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-+"));
    TEST_ASSERT_FALSE_MESSAGE(kind.summary.empty(), kind.name.data());
    TEST_ASSERT_TRUE(kind.name == make(kind, 4)->name());
    TEST_ASSERT_TRUE(kind.name == find_guard(all_guards(), kind.name).value()->name);
  }
  ASSERT_CONTAINS(message_of(find_guard(all_guards(), "aflgaurd")),
                  "unknown guard 'aflgaurd'; did you mean 'aflguard'?");
}

TEST("Every option of a guard has a meaning and a range that holds its default and is checked") {
  for (const GuardKind& kind : all_guards()) {
    std::set<std::string_view> names;
    for (const NamedOption& option : kind.options) {
      TEST_ASSERT_TRUE_MESSAGE(names.insert(option.name).second, option.name.data());
      TEST_ASSERT_FALSE_MESSAGE(option.meaning.empty(), option.name.data());
      TEST_ASSERT_TRUE_MESSAGE(option.low <= option.default_value && option.default_value <= option.high,
                               option.name.data());
      GuardSettings settings{.dimension = 4, .clients = 3};
      settings.options[std::string(option.name)] = option.default_value;
      ASSERT_OK(make_guard(kind, settings));
      settings.options[std::string(option.name)] = option.high + 1 + option.high * 1e-3;
      ASSERT_CONTAINS(message_of(make_guard(kind, settings)), std::string(option.name));
    }
  }
}

TEST("No guard accepts a NaN or an infinity, wherever it stands, and none is harmed by it") {
  for (const GuardKind& kind : all_guards()) {
    for (const float bad : {kNan, kInfinity, -kInfinity}) {
      for (std::size_t where = 0; where < 40; where += 13) {
        FixedReference source(std::vector<float>(40, 1));
        Aggregator victim = aggregator(make(kind, 40), source, std::vector<float>(40));
        const std::vector<std::byte> before = victim.guard().save();
        std::vector<float> g(40, 1);
        g[where] = bad;
        const Verdict verdict = submit(victim, 1, g);
        TEST_ASSERT_FALSE_MESSAGE(verdict.accepted, kind.name.data());
        TEST_ASSERT_EQUAL(Reason::kNotFinite, verdict.reason);
        TEST_ASSERT_EQUAL_UINT64(0, victim.model().version());
        TEST_ASSERT_EQUAL_FLOAT(0, victim.model().parameters()[where]);
        // A round goes on after a bad update.
        if (victim.guard().needs().round == 1) TEST_ASSERT_TRUE(before == victim.guard().save());
      }
    }
  }
}
