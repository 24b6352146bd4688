#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "lab/reports/league_html.h"
#include "lab/reports/svg_plot.h"
#include "tests/support/test.h"

using namespace aflguard;
using namespace aflguard::lab;
using namespace aflguard::testing;

namespace {

CellRuns cell(const char* guard, const char* attack, const std::vector<double>& errors, double microseconds) {
  CellRuns out;
  out.cell.settings.dataset = "har";
  out.cell.settings.guard = guard;
  out.cell.settings.attack = attack;
  out.cell.settings.malicious = 0.2;
  out.cell.x = 0.2;
  for (const double error : errors) {
    RunRecord run{out.cell.settings, {}, 1};
    run.result.metrics.test_error = error;
    run.result.iterations = 1000;
    run.result.judging_seconds = microseconds * 1e-3;
    out.runs.push_back(run);
  }
  return out;
}

const std::vector<CellRuns>& league() {
  static const std::vector<CellRuns> cells = {
      cell("weak", "none", {0.05, 0.05}, 2),   cell("weak", "gd", {0.9, 0.7}, 2),
      cell("weak", "lf", {0.1, 0.1}, 2),       cell("strong", "none", {0.06, 0.06}, 40),
      cell("strong", "gd", {0.07, 0.09}, 40),  cell("strong", "lf", {0.06, 0.06}, 40),
      cell("broken", "none", {0.05, 0.05}, 1), cell("broken", "gd", {0.2, std::nan("")}, 1)};
  return cells;
}

/// The numbers that follow `attribute=` in the drawing, for every <text> of a class.
std::vector<double> places_of(const std::string& drawing, const std::string& css,
                              const std::string& attribute) {
  std::vector<double> places;
  const std::string begin = "<text class='" + css + "'";
  for (std::size_t at = drawing.find(begin); at != std::string::npos; at = drawing.find(begin, at + 1)) {
    const std::size_t found = drawing.find(attribute + "='", at);
    places.push_back(std::stod(drawing.substr(found + attribute.size() + 2)));
  }
  return places;
}

}  // namespace

TEST("The league names each guard's worst row with its spread, best guard first") {
  const auto rows = league_rows(league(), "har", 0.2);
  TEST_ASSERT_EQUAL_size_t(3, rows.size());
  TEST_ASSERT_EQUAL_STRING("strong", rows[0].guard.c_str());
  TEST_ASSERT_EQUAL_STRING("gd", rows[0].worst_attack.c_str());
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.08, rows[0].worst);
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.07, rows[0].worst_low);
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.09, rows[0].worst_high);
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.07, rows[0].mean);
  TEST_ASSERT_DOUBLE_WITHIN(1e-6, 40, rows[0].microseconds);
  TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.05, rows[1].without_attack);
  TEST_ASSERT_EQUAL_STRING("broken", rows[2].guard.c_str());
  TEST_ASSERT_TRUE(std::isinf(rows[2].worst));  // what is not a number counts as infinite
  TEST_ASSERT_TRUE(league_rows(league(), "har", 0.45).empty());
}

TEST("The league's page shows the table and every cell") {
  Plan plan{PlanKind::kLeague, "league", "League", "malicious fraction", {}};
  const std::string page = league_html(plan, league(), nlohmann::ordered_json("here"));
  ASSERT_CONTAINS(page, "har, 20 % malicious");
  ASSERT_CONTAINS(page, "0.070 to 0.090");
  ASSERT_CONTAINS(page, "microseconds per update");
  ASSERT_CONTAINS(page, "&gt; 1000");
}

TEST("Many long names under bars stand askew, and a long title takes several lines above the plot") {
  BarPlot plot{"Attackers who know the guard, its state, its trusted data and the weather of next week",
               "y",
               false,
               {},
               {}};
  BarPlot::Series series{"s", 0, {}};
  for (int i = 0; i < 16; ++i) {
    plot.groups.push_back("own-alternating");
    series.values.push_back(1);
  }
  plot.series.push_back(series);
  const std::string drawing = svg(plot);
  ASSERT_CONTAINS(drawing, "rotate(-45 ");
  const auto lines = places_of(drawing, "title", "y");
  TEST_ASSERT_EQUAL_size_t(2, lines.size());
  TEST_ASSERT_TRUE(lines[0] < 18 && lines[1] <= 18);  // the axis begins at 34
}

TEST("Numbers under a line plot never cover each other") {
  LinePlot plot{"t", "x", "y", false, {{"a", 0, {}}}};
  for (const double x : {0.1, 0.101, 0.102, 0.5, 0.501, 1.0}) plot.curves[0].points.push_back({x, 1, 1, 1});
  const std::string drawing = svg(plot);
  std::size_t shown = 0;
  for (const char* label : {">0.1<", ">0.101<", ">0.102<", ">0.5<", ">0.501<", ">1<"}) {
    shown += drawing.find(label) != std::string::npos ? 1 : 0;
  }
  TEST_ASSERT_EQUAL_size_t(3, shown);
}
