#include "lab/reports/league_html.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "lab/campaigns/summary.h"
#include "lab/reports/report_html.h"
#include "lab/reports/svg_plot.h"

namespace aflguard::lab {
namespace {

double or_infinite(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::infinity();
}

double mean_microseconds(const std::vector<const CellRuns*>& cells) {
  double seconds = 0;
  double updates = 0;
  for (const CellRuns* cell : cells) {
    for (const RunRecord& run : cell->runs) {
      if (!(run.result.judging_seconds > 0)) continue;
      seconds += run.result.judging_seconds;
      updates += static_cast<double>(run.result.iterations);
    }
  }
  return updates > 0 ? 1e6 * seconds / updates : 0;
}

std::string score_text(double value) {
  char text[32];
  if (!(value <= 1000)) return "&gt; 1000";
  std::snprintf(text, sizeof text, value < 10 ? "%.3f" : "%.1f", value);
  return text;
}

std::string row_html(const LeagueRow& row) {
  return "<tr><th class='row'>" + escape_html(row.guard) + "</th><td>" + score_text(row.without_attack) +
         "</td><td>" + score_text(row.mean) + "</td><td>" + score_text(row.worst) + "<small>" +
         score_text(row.worst_low) + " to " + score_text(row.worst_high) + "</small></td><td>" +
         escape_html(row.worst_attack) + "</td><td>" +
         (row.microseconds > 0 ? score_text(row.microseconds) : "") + "</td></tr>";
}

std::string bars(const std::vector<LeagueRow>& rows, const std::string& title, bool regression) {
  BarPlot plot{title, "worst row", regression, {}, {}};
  BarPlot::Series worst{"worst row", 4, {}};
  BarPlot::Series none{"no attack", 3, {}};
  for (const LeagueRow& row : rows) {
    plot.groups.push_back(row.guard);
    worst.values.push_back(std::min(row.worst, 1e6));
    none.values.push_back(std::min(row.without_attack, 1e6));
  }
  plot.series = {std::move(none), std::move(worst)};
  return "<div class='plots'>" + svg(plot) + "</div>";
}

}  // namespace

std::vector<LeagueRow> league_rows(const std::vector<CellRuns>& cells, const std::string& dataset,
                                   double malicious) {
  std::vector<std::string> guards;
  for (const CellRuns& cell : cells) {
    const std::string& guard = cell.cell.settings.guard;
    if (std::find(guards.begin(), guards.end(), guard) == guards.end()) guards.push_back(guard);
  }
  std::vector<LeagueRow> rows;
  for (const std::string& guard : guards) {
    LeagueRow row;
    row.guard = guard;
    row.worst = -1;
    std::vector<const CellRuns*> own;
    double attacks = 0;
    for (const CellRuns& cell : cells) {
      const ExperimentSettings& settings = cell.cell.settings;
      if (settings.guard != guard || settings.dataset != dataset) continue;
      if (settings.attack != "none" && settings.malicious != malicious) continue;
      own.push_back(&cell);
      const std::vector<MetricSummary> metrics = summarise(cell);
      const MetricSummary& metric = main_metric(metrics);
      const double mean = or_infinite(metric.mean);
      if (settings.attack == "none") {
        row.without_attack = mean;
        continue;
      }
      row.mean += mean;
      attacks += 1;
      if (mean <= row.worst) continue;
      row.worst = mean;
      row.worst_low = or_infinite(metric.lowest);
      row.worst_high = or_infinite(metric.highest);
      row.worst_attack = settings.attack;
    }
    if (attacks == 0) continue;
    row.mean /= attacks;
    row.microseconds = mean_microseconds(own);
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LeagueRow& a, const LeagueRow& b) { return a.worst < b.worst; });
  return rows;
}

std::string league_html(const Plan& plan, const std::vector<CellRuns>& cells,
                        const nlohmann::ordered_json& context) {
  std::vector<std::string> datasets;
  std::set<double> fractions;
  for (const CellRuns& cell : cells) {
    const ExperimentSettings& settings = cell.cell.settings;
    if (std::find(datasets.begin(), datasets.end(), settings.dataset) == datasets.end()) {
      datasets.push_back(settings.dataset);
    }
    fractions.insert(settings.malicious);
  }
  std::string opening =
      "<p class='lead'>Guards in the order of their worst row: the attack that harms them most, mean over "
      "seeds, "
      "with the lowest and highest seed. Synthetic data: distance to the true model; else test error. Cost: "
      "CPU "
      "time per update, on the machine named below.</p>";
  for (const std::string& dataset : datasets) {
    for (const double malicious : fractions) {
      const std::vector<LeagueRow> rows = league_rows(cells, dataset, malicious);
      if (rows.empty()) continue;
      char percent[32];
      std::snprintf(percent, sizeof percent, "%g %% malicious", 100 * malicious);
      const std::string title = dataset + ", " + percent;
      opening +=
          "<h2>" + escape_html(title) + "</h2>" + bars(rows, title, dataset == "synthetic") +
          "<div class='table'><table><thead><tr><th class='row'>guard</th><th>no attack</th><th>mean over "
          "attacks</th><th>worst row</th><th>attack</th><th>microseconds per update</th></tr></thead>"
          "<tbody>";
      for (const LeagueRow& row : rows) opening += row_html(row);
      opening += "</tbody></table></div>";
    }
  }
  return report_html(plan, cells, context, opening);
}

}  // namespace aflguard::lab
