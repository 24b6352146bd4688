#include <algorithm>
#include <set>

#include "core/aggregation/guards/all_guards.h"
#include "lab/attacks/all_attacks.h"
#include "lab/campaigns/grid_plan.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

TEST("A grid has a cell for every guard, attack, data set and malicious fraction") {
  GridRequest request;
  request.guards = {"aflguard", "zeno++"};
  request.attacks = {"none", "gd", "lf"};
  request.datasets = {"synthetic", "har"};
  request.malicious = {0.1, 0.4};
  const Plan plan = plan_grid(request).value();
  // Without an attack nothing is malicious: one fraction is enough.
  TEST_ASSERT_EQUAL_size_t(2 * 2 * (1 + 2 * 2), plan.cells.size());
  TEST_ASSERT_EQUAL_STRING("grid", plan.id().c_str());
  std::set<std::string> ids;
  for (const PlannedCell& cell : plan.cells) TEST_ASSERT_TRUE(ids.insert(cell.id).second);
  TEST_ASSERT_TRUE(ids.contains("har-gd-malicious0.4-zeno++"));
}

TEST("A grid's settings are the data set's, and what the user says of all cells") {
  GridRequest request{
      {"aflguard"}, {"gd"}, {"synthetic"}, {0.2}, [](ExperimentSettings& settings) { settings.clients = 7; }};
  const Plan plan = plan_grid(request).value();
  TEST_ASSERT_EQUAL_size_t(7, plan.cells.front().settings.clients);
  TEST_ASSERT_EQUAL_size_t(16, plan.cells.front().settings.batch_size);
}

TEST("A grid without something, with something twice, or with nothing that means anything is refused") {
  const auto refused = [](GridRequest request) { return message_of(plan_grid(request)); };
  ASSERT_CONTAINS(refused({{}, {"gd"}, {"har"}, {0.2}, {}}), "at least one guard");
  ASSERT_CONTAINS(refused({{"aflguard"}, {"gd", "gd"}, {"har"}, {0.2}, {}}), "the same attack twice");
  ASSERT_CONTAINS(refused({{"aflguard"}, {"gd"}, {"hra"}, {0.2}, {}}), "did you mean 'har'?");
  ASSERT_CONTAINS(refused({{"aflguard"}, {"bd"}, {"synthetic"}, {0.2}, {}}), "none of these attacks");
}

TEST("The league is every asynchronous guard against every attack, at 20 % and 45 %") {
  const Plan plan = plan_table("league", {}).value();
  TEST_ASSERT_EQUAL_STRING("table-league", plan.id().c_str());
  std::set<std::string> guards;
  std::set<std::string> attacks;
  std::set<double> fractions;
  for (const PlannedCell& cell : plan.cells) {
    guards.insert(cell.settings.guard);
    attacks.insert(cell.settings.attack);
    fractions.insert(cell.settings.malicious);
  }
  TEST_ASSERT_EQUAL_size_t(all_guards().size() - 1, guards.size());
  TEST_ASSERT_EQUAL_size_t(all_attacks().size() + 1, attacks.size());
  TEST_ASSERT_EQUAL_size_t(2, fractions.size());
  const Plan part = plan_table("league", {.dataset = "har", .malicious = 0.2, .guard = "aflguard"}).value();
  TEST_ASSERT_EQUAL_size_t(all_attacks().size() + 1, part.cells.size());
}
