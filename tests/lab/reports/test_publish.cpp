#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "lab/reports/publish.h"
#include "lab/reports/results_files.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

void run_small_table(const std::filesystem::path& folder) {
  const LabResources resources = {full_catalog(),
                                  [](const std::string&) -> Result<ModelSource> { return linear_model(); },
                                  [](const std::string&) -> Result<std::shared_ptr<const DatasetSplit>> {
                                    return std::shared_ptr<const DatasetSplit>();
                                  }};
  const Plan plan = plan_table("1", {.iterations = 20, .guard = "aflguard"}).value();
  const auto cells = run_campaign(plan, {folder, 2, 7, 1}, resources, nlohmann::ordered_json("here"), {});
  ASSERT_OK(cells);
  ASSERT_OK(write_results(plan, *cells, nlohmann::ordered_json("here"), folder));
}

}  // namespace

TEST("A published campaign has every run with seed and settings, its page, and a line in the index") {
  TemporaryFolder folder;
  run_small_table(folder / "table-1");
  const auto published = publish({folder / "table-1"}, folder / "out");
  ASSERT_OK(published);
  TEST_ASSERT_EQUAL_size_t(1, published->size());
  TEST_ASSERT_EQUAL_size_t(10, published->front().runs);
  TEST_ASSERT_EQUAL_size_t(2, published->front().seeds);
  const std::string csv = read_text_file(folder / "out" / "table-1.csv", 1 << 20).value();
  TEST_ASSERT_EQUAL_size_t(11, static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')));
  ASSERT_CONTAINS(csv, "gd-aflguard,8,synthetic,aflguard,gd,100,0.2,20,16,");
  ASSERT_CONTAINS(read_text_file(folder / "out" / "table-1.html", 1 << 20).value(), "<svg");
  ASSERT_CONTAINS(read_text_file(folder / "out" / "index.csv", 1 << 20).value(),
                  "table-1,table-1,\"Table 1: errors on synthetic data\",5,10,2");
}

TEST("A folder without results, and two folders of one name, are refused by name") {
  TemporaryFolder folder;
  ASSERT_CONTAINS(message_of(publish({folder / "nothing"}, folder / "out")), "nothing");
  run_small_table(folder / "table-1");
  ASSERT_CONTAINS(message_of(publish({folder / "table-1", folder / "table-1"}, folder / "out")),
                  "two folders");
}
