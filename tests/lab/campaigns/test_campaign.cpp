#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "lab/campaigns/campaign.h"
#include "lab/reports/results_files.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

using Json = nlohmann::ordered_json;

LabResources resources() {
  return {full_catalog(), [](const std::string&) -> Result<ModelSource> { return linear_model(); },
          [](const std::string&) -> Result<std::shared_ptr<const DatasetSplit>> {
            return std::shared_ptr<const DatasetSplit>();
          }};
}

Plan small_plan(std::size_t iterations = 60) {
  return plan_table("1", {.iterations = iterations}).value();
}

CampaignOptions in(const std::filesystem::path& folder, std::size_t jobs = 1, std::uint64_t seeds = 2) {
  return {folder, seeds, 1, jobs};
}

std::string results_in(const std::filesystem::path& folder, std::size_t jobs, std::uint64_t seeds = 2) {
  const auto cells = run_campaign(small_plan(), in(folder, jobs, seeds), resources(), Json("here"), {});
  TEST_ASSERT_TRUE_MESSAGE(cells.ok(), message_of(cells).c_str());
  TEST_ASSERT_TRUE(write_results(small_plan(), *cells, Json("here"), folder).ok());
  return read_text_file(folder / "results.json").value();
}

}  // namespace

TEST("One job and two jobs write the same results, bit for bit") {
  TemporaryFolder folder;
  const std::string one = results_in(folder / "one", 1);
  TEST_ASSERT_TRUE(one == results_in(folder / "two", 2));
  TEST_ASSERT_TRUE(read_text_file(folder / "one" / "report.html").value() ==
                   read_text_file(folder / "two" / "report.html").value());
  TEST_ASSERT_TRUE(read_text_file(folder / "one" / "results.csv").value() ==
                   read_text_file(folder / "two" / "results.csv").value());
}

TEST("An interrupted campaign keeps its finished runs, continues, and ends with the same results") {
  TemporaryFolder folder;
  const std::string whole = results_in(folder / "whole", 2);
  std::atomic<int> budget = 7;
  LabResources failing = resources();
  failing.model = [&budget](const std::string&) -> Result<ModelSource> {
    if (budget-- > 0) return linear_model();
    return unavailable("interrupted");
  };
  const auto broken = run_campaign(small_plan(), in(folder / "pieces"), failing, Json("here"), {});
  ASSERT_CONTAINS(message_of(broken), "interrupted");
  std::size_t first_done = 0;
  std::size_t ran = 0;
  const auto cells = run_campaign(small_plan(), in(folder / "pieces"), resources(), Json("here"),
                                  [&](const CampaignProgress& progress) {
                                    if (progress.finished.empty() && ran == 0 && progress.share == 0) {
                                      first_done = progress.done;
                                    }
                                    if (!progress.finished.empty()) ++ran;
                                    TEST_ASSERT_TRUE(progress.share >= 0 && progress.share <= 1.000001);
                                  });
  ASSERT_OK(cells);
  TEST_ASSERT_EQUAL_UINT64(7, first_done);
  TEST_ASSERT_EQUAL_UINT64(50 - 7, ran);
  TEST_ASSERT_TRUE(whole == results_in(folder / "pieces", 1));
}

TEST("More seeds later add to a folder, and the first ones are not run again") {
  TemporaryFolder folder;
  (void)results_in(folder / "x", 2, 1);
  std::size_t ran = 0;
  const auto cells =
      run_campaign(small_plan(), in(folder / "x", 2, 2), resources(), Json("here"),
                   [&](const CampaignProgress& progress) { ran += progress.finished.empty() ? 0 : 1; });
  ASSERT_OK(cells);
  TEST_ASSERT_EQUAL_UINT64(25, ran);
}

TEST("A folder with results of other settings, of another table or with other files is left alone") {
  TemporaryFolder folder;
  (void)results_in(folder / "x", 2, 1);
  const std::string before = read_text_file(folder / "x" / "results.json").value();
  const auto other = run_campaign(small_plan(61), in(folder / "x"), resources(), Json("here"), {});
  ASSERT_CONTAINS(message_of(other), "with other settings; choose another output folder");
  const Plan figure = plan_figure("lambda", {.dataset = "synthetic", .iterations = 60}).value();
  const auto wrong = run_campaign(figure, in(folder / "x"), resources(), Json("here"), {});
  ASSERT_CONTAINS(message_of(wrong), "holds results of table-1, not of figure-lambda");
  TEST_ASSERT_TRUE(before == read_text_file(folder / "x" / "results.json").value());
  std::filesystem::create_directories(folder / "mine");
  ASSERT_OK(write_file_atomically(folder / "mine" / "thesis.tex", "precious"));
  const auto refused = run_campaign(small_plan(), in(folder / "mine"), resources(), Json("here"), {});
  ASSERT_CONTAINS(message_of(refused), "is not empty");
  TEST_ASSERT_FALSE(std::filesystem::exists(folder / "mine" / "campaign.json"));
}

TEST("A stored run that is damaged or belongs to other settings stops the campaign") {
  TemporaryFolder folder;
  (void)results_in(folder / "x", 2, 1);
  const auto run = folder / "x" / "runs" / "gd-aflguard-seed1.json";
  const std::string text = read_text_file(run).value();
  ASSERT_OK(write_file_atomically(run, std::string_view(text).substr(0, 50)));
  ASSERT_CONTAINS(
      message_of(run_campaign(small_plan(), in(folder / "x", 1, 1), resources(), Json("here"), {})),
      "gd-aflguard-seed1.json is not a stored run");
  ASSERT_OK(
      write_file_atomically(run, read_text_file(folder / "x" / "runs" / "lf-aflguard-seed1.json").value()));
  ASSERT_CONTAINS(
      message_of(run_campaign(small_plan(), in(folder / "x", 1, 1), resources(), Json("here"), {})),
      "other settings");
}

TEST("The report names nothing outside itself and shows the paper's numbers") {
  TemporaryFolder folder;
  (void)results_in(folder / "x", 2, 1);
  const std::string html = read_text_file(folder / "x" / "report.html").value();
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("}) {
    TEST_ASSERT_TRUE_MESSAGE(html.find(outside) == std::string::npos, outside);
  }
  ASSERT_CONTAINS(html, "<svg");
  ASSERT_CONTAINS(html, "paper 25.75");
  ASSERT_CONTAINS(html, "class='differs'");
}

TEST("The CSV has one row per cell and metric") {
  TemporaryFolder folder;
  (void)results_in(folder / "x", 2, 1);
  const std::string csv = read_text_file(folder / "x" / "results.csv").value();
  TEST_ASSERT_EQUAL_INT64(1 + 25 * 2, std::count(csv.begin(), csv.end(), '\n'));
  ASSERT_CONTAINS(csv, "table-1,synthetic,gd,aflguard,,mee,");
}
