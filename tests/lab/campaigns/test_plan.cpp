#include <set>

#include "lab/campaigns/plan.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using aflguard::testing::message_of;

TEST("Every number that the paper prints has its cell in the plan of its table") {
  std::size_t placed = 0;
  for (const std::string_view name : table_names()) {
    const auto plan = plan_table(name, {});
    ASSERT_OK(plan);
    for (const PlannedCell& cell : plan->cells) placed += cell.paper.size();
  }
  TEST_ASSERT_EQUAL_UINT64(paper_numbers().size(), placed);
  TEST_ASSERT_EQUAL_UINT64(575, placed);
}

TEST("Cells of one plan have different names and settings within their range") {
  std::vector<Plan> plans;
  for (const std::string_view name : table_names()) plans.push_back(plan_table(name, {}).value());
  for (const std::string_view name : figure_names()) plans.push_back(plan_figure(name, {}).value());
  for (const Plan& plan : plans) {
    std::set<std::string> ids;
    for (const PlannedCell& cell : plan.cells) {
      ids.insert(cell.id);
      ASSERT_OK(validate(cell.settings));
      TEST_ASSERT_TRUE(cell.id.find('/') == std::string::npos);
    }
    TEST_ASSERT_EQUAL_UINT64(plan.cells.size(), ids.size());
  }
}

TEST("The printed value stands in the right cell") {
  const auto plan = plan_table("2a", {});
  for (const PlannedCell& cell : plan->cells) {
    if (cell.id != "bd-aflguard") continue;
    TEST_ASSERT_EQUAL_UINT64(2, cell.paper.size());
    TEST_ASSERT_EQUAL_DOUBLE(0.07, cell.paper[0].value);
    TEST_ASSERT_EQUAL_DOUBLE(0.01, cell.paper[1].value);
    return;
  }
  TEST_FAIL_MESSAGE("no cell bd-aflguard");
}

TEST("Unknown tables, figures and data sets are named with the nearest that exists") {
  ASSERT_CONTAINS(message_of(plan_table("2f", {})), "unknown table '2f'");
  ASSERT_CONTAINS(message_of(plan_figure("lamda", {})), "did you mean 'lambda'?");
  ASSERT_CONTAINS(message_of(plan_figure("lambda", {.dataset = "mnits"})), "did you mean 'mnist'?");
}

TEST("A part of the white-box table can be planned alone, and what it does not have is named") {
  const auto part = plan_table("white-box", {.dataset = "har", .malicious = 0.45});
  ASSERT_OK(part);
  TEST_ASSERT_EQUAL_size_t(16 * 4, part->cells.size());
  for (const PlannedCell& cell : part->cells) {
    TEST_ASSERT_EQUAL_STRING("har", cell.settings.dataset.c_str());
    TEST_ASSERT_EQUAL_DOUBLE(0.45, cell.settings.malicious);
  }
  ASSERT_CONTAINS(message_of(plan_table("white-box", {.dataset = "hra"})), "did you mean 'har'?");
  ASSERT_CONTAINS(message_of(plan_table("white-box", {.malicious = 0.3})), "no malicious fraction 0.3");
  ASSERT_CONTAINS(message_of(plan_table("1", {.malicious = 0.2})), "does not vary the malicious fraction");
}

TEST("A plan's fingerprint changes when a setting of any cell does") {
  const auto plan = plan_table("1", {});
  TEST_ASSERT_TRUE(fingerprint(*plan) == fingerprint(*plan_table("1", {})));
  TEST_ASSERT_FALSE(fingerprint(*plan) == fingerprint(*plan_table("1", {.iterations = 10})));
}

TEST("Agreement follows the printed precision") {
  const auto error = [](double ours, double paper) {
    return compare_with_paper(Metric::kTestError, ours, paper, false);
  };
  TEST_ASSERT_EQUAL(Agreement::kAgrees, error(0.074, 0.07));
  TEST_ASSERT_EQUAL(Agreement::kNear, error(0.12, 0.07));
  TEST_ASSERT_EQUAL(Agreement::kDiffers, error(0.2, 0.07));
  TEST_ASSERT_EQUAL(Agreement::kAgrees, compare_with_paper(Metric::kMee, 1e9, 1000, true));
  TEST_ASSERT_EQUAL(Agreement::kDiffers, compare_with_paper(Metric::kMee, 900, 1000, true));
  TEST_ASSERT_EQUAL(Agreement::kNear, compare_with_paper(Metric::kMee, 21, 25.75, false));
}
