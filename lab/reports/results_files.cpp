#include "lab/reports/results_files.h"

#include <nlohmann/json.hpp>

#include "core/system/atomic_file.h"
#include "lab/campaigns/summary.h"
#include "lab/reports/league_html.h"
#include "lab/reports/report_html.h"

namespace aflguard::lab {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "aflguard.lab.results/1";

std::string exact(double value) {
  return Json(value).dump();
}

Json metric_json(const MetricSummary& metric) {
  Json json = {{"metric", metric.metric == Metric::kMse ? "mse_paper_scale" : to_string(metric.metric)},
               {"mean", metric.mean},
               {"lowest", metric.lowest},
               {"highest", metric.highest}};
  if (metric.plain_mean) json["mean_mse"] = *metric.plain_mean;
  json["paper"] = nullptr;
  if (metric.paper) {
    json["paper"] = {{"value", metric.paper->value}, {"more_than", metric.paper->more_than}};
    json["agreement"] = to_string(*metric.agreement);
  }
  return json;
}

Json run_json(const RunRecord& run) {
  Json json = to_json(run, nullptr);
  for (const char* name : {"schema", "seconds", "judging_seconds", "settings", "context"}) json.erase(name);
  return json;
}

Json cell_json(const CellRuns& cell) {
  Json settings = to_json(cell.cell.settings);
  settings.erase("seed");
  Json json = {{"id", cell.cell.id},
               {"dataset", cell.cell.settings.dataset},
               {"attack", cell.cell.settings.attack},
               {"defense", cell.cell.settings.guard},
               {"x", cell.cell.x ? Json(*cell.cell.x) : Json(nullptr)},
               {"metrics", Json::array()},
               {"settings", std::move(settings)},
               {"runs", Json::array()}};
  for (const MetricSummary& metric : summarise(cell)) json["metrics"].push_back(metric_json(metric));
  for (const RunRecord& run : cell.runs) json["runs"].push_back(run_json(run));
  return json;
}

}  // namespace

std::string results_csv(const Plan& plan, const std::vector<CellRuns>& cells) {
  std::string csv =
      "plan,dataset,attack,defense,x,metric,mean,lowest,highest,seeds,paper,paper_more_than,agreement\n";
  for (const CellRuns& cell : cells) {
    for (const MetricSummary& metric : summarise(cell)) {
      const ExperimentSettings& settings = cell.cell.settings;
      csv += plan.id() + "," + settings.dataset + "," + settings.attack + "," + settings.guard + ",";
      csv += (cell.cell.x ? exact(*cell.cell.x) : "") + ",";
      csv += metric.metric == Metric::kMse ? "mse_paper_scale" : std::string(to_string(metric.metric));
      csv += "," + exact(metric.mean) + "," + exact(metric.lowest) + "," + exact(metric.highest) + ",";
      csv += std::to_string(cell.runs.size()) + ",";
      if (metric.paper) {
        csv += exact(metric.paper->value) + "," + (metric.paper->more_than ? "yes" : "no") + "," +
               std::string(to_string(*metric.agreement));
      } else {
        csv += ",,";
      }
      csv += "\n";
    }
  }
  return csv;
}

Json results_json(const Plan& plan, const std::vector<CellRuns>& cells, const Json& context) {
  Json json = {{"schema", kSchema},
               {"plan", plan.id()},
               {"title", plan.title},
               {"varies", plan.x_name.empty() ? Json(nullptr) : Json(plan.x_name)},
               {"fingerprint", fingerprint(plan)},
               {"seeds", Json::array()},
               {"context", context},
               {"cells", Json::array()}};
  if (!cells.empty()) {
    for (const RunRecord& run : cells.front().runs) json["seeds"].push_back(run.settings.seed);
  }
  for (const CellRuns& cell : cells) json["cells"].push_back(cell_json(cell));
  return json;
}

Status write_results(const Plan& plan, const std::vector<CellRuns>& cells, const Json& context,
                     const std::filesystem::path& folder) {
  TRY_STATUS(write_file_atomically(folder / "results.csv", results_csv(plan, cells)));
  TRY_STATUS(
      write_file_atomically(folder / "results.json", results_json(plan, cells, context).dump(2) + "\n"));
  const bool league = plan.kind == PlanKind::kLeague;
  return write_file_atomically(
      folder / "report.html", league ? league_html(plan, cells, context) : report_html(plan, cells, context));
}

}  // namespace aflguard::lab
