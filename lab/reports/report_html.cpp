#include "lab/reports/report_html.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/campaigns/summary.h"
#include "lab/reports/report_style.h"
#include "lab/reports/svg_plot.h"

namespace aflguard::lab {
namespace {

using Json = nlohmann::ordered_json;

const std::map<std::string, std::string>& display_names() {
  static const std::map<std::string, std::string> names = {{"asyncsgd", "AsyncSGD"},
                                                           {"kardam", "Kardam"},
                                                           {"basgd", "BASGD"},
                                                           {"zeno++", "Zeno++"},
                                                           {"span-guard", "SpanGuard"},
                                                           {"span-guard-2", "SpanGuard 2"},
                                                           {"aflguard", "AFLGuard"},
                                                           {"sync-aflguard", "Sync. AFLGuard"},
                                                           {"none", "No attack"},
                                                           {"lf", "Label flipping"},
                                                           {"gauss", "Gaussian"},
                                                           {"gd", "Gradient dev."},
                                                           {"bd", "Backdoor"},
                                                           {"adapt-reverse", "Adapt (reverse)"},
                                                           {"adapt-fang", "Adapt (Fang)"},
                                                           {"adapt-sign", "Adapt (sign)"},
                                                           {"adapt-boundary", "Adapt (boundary)"}};
  return names;
}

std::string display(const std::string& name) {
  const auto found = display_names().find(name);
  return found == display_names().end() ? name : found->second;
}

/// The same guard has the same colour in every plot.
std::size_t colour_of(const std::string& guard, std::size_t default_value) {
  const std::vector<std::string> fixed = {"asyncsgd", "kardam",   "basgd",
                                          "zeno++",   "aflguard", "sync-aflguard"};
  const auto found = std::find(fixed.begin(), fixed.end(), guard);
  return found != fixed.end() ? static_cast<std::size_t>(found - fixed.begin()) : 6 + default_value % 3;
}

std::string short_number(double value, Metric metric) {
  char text[32];
  const bool rate = metric == Metric::kTestError || metric == Metric::kAttackSuccess;
  if (value > 1000) return "&gt; 1000";
  std::snprintf(text, sizeof text, rate ? "%.3f" : (value < 10 ? "%.2f" : "%.1f"), value);
  return text;
}

std::string paper_number(const PrintedNumber& printed) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%.2f", printed.more_than ? "&gt; " : "", printed.value);
  if (printed.more_than) std::snprintf(text, sizeof text, "&gt; %.0f", printed.value);
  return text;
}

std::string metric_title(Metric metric) {
  switch (metric) {
    case Metric::kTestError:
      return "test error";
    case Metric::kAttackSuccess:
      return "attack success";
    case Metric::kMse:
      return "mean squared error, paper's scale";
    case Metric::kMee:
      return "model estimation error";
  }
  return {};
}

template <typename Key>
void add_once(std::vector<Key>& keys, const Key& key) {
  if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
}

/// The cells of one data set, arranged: rows are attacks, columns are (x, guard).
struct Grid {
  std::string dataset;
  std::vector<std::string> attacks;
  std::vector<std::string> guards;
  std::vector<std::optional<double>> xs;
  std::map<std::string, const CellRuns*> cells;

  static std::string key(const std::string& attack, const std::optional<double>& x,
                         const std::string& guard) {
    return attack + "|" + (x ? std::to_string(*x) : "") + "|" + guard;
  }
  [[nodiscard]] const CellRuns* find(const std::string& attack, const std::optional<double>& x,
                                     const std::string& guard) const {
    const auto found = cells.find(key(attack, x, guard));
    return found == cells.end() ? nullptr : found->second;
  }
};

std::vector<Grid> arrange(const std::vector<CellRuns>& cells) {
  std::vector<Grid> grids;
  for (const CellRuns& cell : cells) {
    const ExperimentSettings& settings = cell.cell.settings;
    auto grid = std::find_if(grids.begin(), grids.end(),
                             [&](const Grid& g) { return g.dataset == settings.dataset; });
    if (grid == grids.end()) {
      grids.push_back({settings.dataset, {}, {}, {}, {}});
      grid = std::prev(grids.end());
    }
    add_once(grid->attacks, settings.attack);
    add_once(grid->guards, settings.guard);
    add_once(grid->xs, cell.cell.x);
    grid->cells[Grid::key(settings.attack, cell.cell.x, settings.guard)] = &cell;
  }
  return grids;
}

std::string table_cell(const CellRuns* cell, Metric metric) {
  if (cell == nullptr) return "<td></td>";
  for (const MetricSummary& summary : summarise(*cell)) {
    if (summary.metric != metric) continue;
    std::string css = summary.agreement ? " class='" + std::string(to_string(*summary.agreement)) + "'" : "";
    std::string title = " title='" + std::to_string(cell->runs.size()) + " seeds, " +
                        short_number(summary.lowest, metric) + " to " +
                        short_number(summary.highest, metric) + "'";
    std::string out = "<td" + css + title + ">" + short_number(summary.mean, metric);
    if (summary.paper) out += "<small>paper " + paper_number(*summary.paper) + "</small>";
    return out + "</td>";
  }
  return "<td></td>";
}

std::string table(const Grid& grid, Metric metric, const std::string& x_name) {
  std::string out = "<div class='table'><table><thead>";
  const bool varied = grid.xs.size() > 1;
  if (varied) {
    out += "<tr><th class='row'>" + escape_html(x_name) + "</th>";
    for (const auto& x : grid.xs) {
      char text[96];
      std::snprintf(text, sizeof text, "<th colspan='%zu'>%g</th>", grid.guards.size(), x.value_or(0));
      out += text;
    }
    out += "</tr>";
  }
  out += "<tr><th class='row'>attack</th>";
  for (std::size_t i = 0; i < grid.xs.size(); ++i) {
    for (const std::string& guard : grid.guards) out += "<th>" + escape_html(display(guard)) + "</th>";
  }
  out += "</tr></thead><tbody>";
  for (const std::string& attack : grid.attacks) {
    std::string row;
    bool any = false;
    for (const auto& x : grid.xs) {
      for (const std::string& guard : grid.guards) {
        const std::string cell = table_cell(grid.find(attack, x, guard), metric);
        any = any || cell != "<td></td>";
        row += cell;
      }
    }
    if (any) out += "<tr><th class='row'>" + escape_html(display(attack)) + "</th>" + row + "</tr>";
  }
  return out + "</tbody></table></div>";
}

std::vector<Metric> metrics_of(const Grid& grid) {
  std::vector<Metric> metrics;
  for (const auto& [key, cell] : grid.cells) {
    for (const MetricSummary& summary : summarise(*cell)) add_once(metrics, summary.metric);
  }
  std::sort(metrics.begin(), metrics.end());
  return metrics;
}

bool is_regression(const Grid& grid) {
  const auto metrics = metrics_of(grid);
  return std::find(metrics.begin(), metrics.end(), Metric::kMee) != metrics.end();
}

std::string bar_plot(const Grid& grid, const std::optional<double>& x, Metric metric,
                     const std::string& title) {
  BarPlot plot{title, metric_title(metric), is_regression(grid), {}, {}};
  for (const std::string& attack : grid.attacks) {
    if (grid.find(attack, x, grid.guards.front()) != nullptr) plot.groups.push_back(attack);
  }
  for (std::size_t d = 0; d < grid.guards.size(); ++d) {
    const std::string& guard = grid.guards[d];
    BarPlot::Series series{display(guard), colour_of(guard, d), {}};
    for (const std::string& attack : plot.groups) {
      const CellRuns* cell = grid.find(attack, x, guard);
      double value = 0;
      for (const MetricSummary& summary : cell == nullptr ? std::vector<MetricSummary>() : summarise(*cell)) {
        if (summary.metric == metric) value = summary.mean;
      }
      series.values.push_back(metric == Metric::kMee ? std::min(value, 1e6) : value);
    }
    plot.series.push_back(std::move(series));
  }
  return svg(plot);
}

std::string line_plot(const Grid& grid, const std::string& attack, Metric metric, const std::string& x_name) {
  LinePlot plot{
      display(attack) + ": " + metric_title(metric), x_name, metric_title(metric), is_regression(grid), {}};
  for (std::size_t d = 0; d < grid.guards.size(); ++d) {
    const std::string& guard = grid.guards[d];
    PlotCurve curve{display(guard), colour_of(guard, d), {}};
    for (const auto& x : grid.xs) {
      const CellRuns* cell = grid.find(attack, x, guard);
      if (cell == nullptr || !x) continue;
      for (const MetricSummary& summary : summarise(*cell)) {
        if (summary.metric != metric) continue;
        const auto cap = [&](double v) { return metric == Metric::kMee ? std::min(v, 1e6) : v; };
        curve.points.push_back({*x, cap(summary.mean), cap(summary.lowest), cap(summary.highest)});
      }
    }
    if (!curve.points.empty()) plot.curves.push_back(std::move(curve));
  }
  return plot.curves.empty() ? std::string() : svg(plot);
}

std::string plots(const Plan& plan, const Grid& grid) {
  std::string out = "<div class='plots'>";
  const Metric main = is_regression(grid) ? Metric::kMee : Metric::kTestError;
  if (grid.xs.size() > 1) {
    for (const std::string& attack : grid.attacks) {
      out += line_plot(grid, attack, main, plan.x_name);
      if (attack == "bd") out += line_plot(grid, attack, Metric::kAttackSuccess, plan.x_name);
    }
  } else {
    out += bar_plot(grid, grid.xs.front(), main, plan.title);
  }
  return out + "</div>";
}

std::string agreement_line(const std::vector<CellRuns>& cells) {
  std::map<Agreement, int> count;
  int printed = 0;
  for (const CellRuns& cell : cells) {
    for (const MetricSummary& summary : summarise(cell)) {
      if (!summary.agreement) continue;
      ++printed;
      ++count[*summary.agreement];
    }
  }
  if (printed == 0) return "<p class='lead'>The paper prints no numbers for this one.</p>";
  return "<p class='lead key'>Small print: the paper's number. Of " + std::to_string(printed) +
         " printed numbers: <span style='background:#d9f2df'>" + std::to_string(count[Agreement::kAgrees]) +
         " agree</span><span style='background:#fdf3cf'>" + std::to_string(count[Agreement::kNear]) +
         " are near</span><span style='background:#fbdcd9'>" + std::to_string(count[Agreement::kDiffers]) +
         " differ</span></p>";
}

}  // namespace

std::string report_html(const Plan& plan, const std::vector<CellRuns>& cells, const Json& context,
                        const std::string& opening) {
  std::string out =
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width, initial-scale=1'><title>" +
      escape_html(plan.title) + "</title><style>" + report_style() + "</style></head><body>";
  out += "<h1>" + escape_html(plan.title) + "</h1>";
  const std::size_t seeds = cells.empty() ? 0 : cells.front().runs.size();
  out += "<p class='lead'>AFLGuard Edge lab, mean over " + std::to_string(seeds) +
         (seeds == 1 ? " seed" : " seeds") + ".</p>" + (opening.empty() ? agreement_line(cells) : opening);
  for (const Grid& grid : arrange(cells)) {
    const auto known = find_lab_dataset(grid.dataset);
    out += "<h2>" + escape_html(std::string(known ? (*known)->title : grid.dataset)) + "</h2>" +
           (plan.kind == PlanKind::kLeague ? std::string() : plots(plan, grid));
    for (const Metric metric : metrics_of(grid)) {
      out += "<h3>" + metric_title(metric) + "</h3>" + table(grid, metric, plan.x_name);
    }
  }
  Json settings = Json::array();
  if (!cells.empty()) settings = to_json(cells.front().cell.settings);
  out += "<details><summary>Settings of the first cell, and where this ran</summary><pre>" +
         escape_html(settings.dump(2)) + "\n" + escape_html(context.dump(2)) + "</pre></details>";
  return out + "</body></html>\n";
}

}  // namespace aflguard::lab
