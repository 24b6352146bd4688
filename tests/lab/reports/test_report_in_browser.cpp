// The report in a real browser, without network: the plots must show what they claim to show.
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "core/system/child_process.h"
#include "datasets/png_libpng.h"
#include "lab/reports/results_files.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWidth = 1300;
constexpr std::size_t kHeight = 1800;

/// How many pixels the screenshot has of each colour (0xRRGGBB).
using Colours = std::map<std::uint32_t, std::size_t>;

Colours screenshot(const Plan& plan, std::size_t seeds) {
  TemporaryFolder folder;
  const LabResources resources = {full_catalog(),
                                  [](const std::string&) -> Result<ModelSource> { return linear_model(); },
                                  [](const std::string&) -> Result<std::shared_ptr<const DatasetSplit>> {
                                    return std::shared_ptr<const DatasetSplit>();
                                  }};
  const auto cells = run_campaign(plan, {folder / "x", seeds, 1, 2}, resources, Json("here"), {});
  ASSERT_OK(cells);
  ASSERT_OK(write_results(plan, *cells, Json("here"), folder / "x"));
  const auto outcome = run_program(
      {"chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
       "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir=" + (folder / "profile").string(),
       "--window-size=" + std::to_string(kWidth) + "," + std::to_string(kHeight),
       "--screenshot=" + (folder / "page.png").string(), "file://" + (folder / "x" / "report.html").string()},
      folder.path());
  if (!outcome.ok()) TEST_IGNORE_MESSAGE("no browser: apt-get install chromium");
  TEST_ASSERT_EQUAL_INT_MESSAGE(0, outcome->exit_code, outcome->last_line().c_str());
  const auto pixels = datasets::read_png_rgb(folder / "page.png", kWidth, kHeight);
  ASSERT_OK(pixels);
  Colours colours;
  for (std::size_t i = 0; i + 2 < pixels->size(); i += 3) {
    ++colours[static_cast<std::uint32_t>((*pixels)[i] << 16 | (*pixels)[i + 1] << 8 | (*pixels)[i + 2])];
  }
  return colours;
}

constexpr std::array<std::uint32_t, 5> kGuardColours = {0x8c6bb1, 0xd95f02, 0xb8860b, 0x1b9e77, 0x1f5fbf};

}  // namespace

TEST("A table's page shows a bar for every defense and the three colours of agreement") {
  Colours colours = screenshot(plan_table("1", {.iterations = 300}).value(), 1);
  for (const std::uint32_t colour : kGuardColours) TEST_ASSERT_TRUE(colours[colour] > 500);
  TEST_ASSERT_TRUE(colours[0xd9f2df] > 2000);  // agrees
  TEST_ASSERT_TRUE(colours[0xfbdcd9] > 2000);  // differs
}

TEST("A figure's page shows the curve of every defense that it compares, and of no other") {
  Colours colours =
      screenshot(plan_figure("server-delay", {.dataset = "synthetic", .iterations = 60}).value(), 1);
  TEST_ASSERT_TRUE(colours[kGuardColours[3]] > 500);
  TEST_ASSERT_TRUE(colours[kGuardColours[4]] > 500);
  TEST_ASSERT_EQUAL_size_t(0, colours[kGuardColours[0]]);
}
