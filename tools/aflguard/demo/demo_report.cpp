#include "tools/aflguard/demo/demo_report.h"

#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "lab/reports/report_style.h"
#include "lab/reports/svg_plot.h"

namespace aflguard::cli {
namespace {

using lab::escape_html;

// Colours of the lab's pages: AFLGuard's blue for honest clients, a warm one for the others.
constexpr std::size_t kHonestColour = 4;
constexpr std::size_t kMaliciousColour = 6;
constexpr std::size_t kRejectedColour = 5;
constexpr std::size_t kPlotPoints = 200;

std::string text(const char* format, double value) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, value);
  return buffer.data();
}

std::string row(const std::vector<std::string>& cells) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    html += (i == 0 ? "<th class='row'>" : "<td>") + cells[i] + (i == 0 ? "</th>" : "</td>");
  }
  return html + "</tr>";
}

std::string header(const std::vector<std::string>& names) {
  std::string html = "<tr>";
  for (const std::string& name : names) html += "<th>" + name + "</th>";
  return html + "</tr>";
}

lab::LinePlot error_plot(const std::vector<gateway::EvaluationRecord>& evaluations, bool regression) {
  lab::LinePlot plot;
  plot.title = regression ? "Mean squared error as the fleet learns" : "Test error as the fleet learns";
  plot.x_name = "updates judged";
  plot.y_name = regression ? "mean squared error" : "test error";
  plot.logarithmic = regression;
  lab::PlotCurve curve{plot.y_name, kHonestColour, {}};
  for (const gateway::EvaluationRecord& one : evaluations) {
    curve.points.push_back(
        {static_cast<double>(one.iteration), one.test_error, one.test_error, one.test_error});
  }
  plot.curves.push_back(std::move(curve));
  return plot;
}

/// Accepted and rejected updates of both kinds of clients, added up over time.
lab::LinePlot verdict_plot(const std::vector<gateway::VerdictRecord>& verdicts,
                           const std::map<ClientId, bool>& malicious) {
  lab::LinePlot plot;
  plot.title = "Updates accepted (+) and rejected (-), added up";
  plot.x_name = "updates judged";
  plot.y_name = "updates";
  const std::array<std::string, 4> names = {"honest +", "honest -", "malicious +", "malicious -"};
  const std::array<std::size_t, 4> colours = {kHonestColour, kRejectedColour, kMaliciousColour, 1};
  for (std::size_t i = 0; i < names.size(); ++i) plot.curves.push_back({names[i], colours[i], {}});
  std::array<double, 4> counts{};
  const std::size_t stride = std::max<std::size_t>(1, verdicts.size() / kPlotPoints);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const auto known = malicious.find(verdicts[i].device);
    const std::size_t kind = known != malicious.end() && known->second ? 2 : 0;
    counts[kind + (verdicts[i].verdict.accepted ? 0 : 1)] += 1;
    if (i % stride != 0 && i + 1 != verdicts.size()) continue;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      plot.curves[j].points.push_back({static_cast<double>(i + 1), counts[j], counts[j], counts[j]});
    }
  }
  return plot;
}

std::string figures(const sim::ClientFleet& demo, const sim::FleetRunOutcome& outcome) {
  const sim::FleetRunState& state = outcome.state;
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  std::string html =
      "<table>" + header({"", "accepted", "rejected"}) +
      row({"honest clients", number(state.honest.accepted), number(state.honest.rejected)}) +
      row({"malicious clients", number(state.malicious.accepted), number(state.malicious.rejected)}) +
      "</table><table>";
  html +=
      row({demo.test.regression() ? "mean squared error" : "test error", text("%.4f", outcome.test_error)});
  html += row({"test samples", number(demo.test.size())});
  html += row({"updates judged", number(state.updates)});
  html += row({"model version", number(state.version)});
  html += row({"seconds", text("%.1f", state.seconds)});
  html += row({"updates per second", text("%.1f", state.updates_per_second)});
  for (const auto& [reason, count] : state.refused) {
    html += row({"refused unseen: " + lab::escape_html(reason), number(count)});
  }
  return html + "</table>";
}

std::string device_table(const sim::ClientFleet& demo, const gateway::FleetProgress& progress) {
  std::map<std::string, gateway::DeviceTally> tallies;
  for (const gateway::DeviceTally& tally : progress.devices) tallies[tally.name] = tally;
  std::string html = "<table>" + header({"device", "kind", "samples", "accepted", "rejected"});
  for (const sim::FleetClient& device : demo.clients) {
    const gateway::DeviceTally& tally = tallies[device.name];
    html +=
        row({lab::escape_html(device.name), device.malicious ? "malicious" : "honest",
             std::to_string(device.samples), std::to_string(tally.accepted), std::to_string(tally.rejected)});
  }
  return html + "</table>";
}

}  // namespace

Result<std::string> demo_report(const sim::ClientFleet& demo, const sim::FleetRunOutcome& outcome,
                                gateway::StoreReader& history) {
  TRY(const gateway::FleetProgress progress, history.progress());
  TRY(const auto verdicts, history.verdicts());
  TRY(const auto evaluations, history.evaluations());
  std::map<ClientId, bool> malicious;
  for (const gateway::DeviceTally& tally : progress.devices) {
    for (const sim::FleetClient& device : demo.clients) {
      if (device.name == tally.name) malicious[tally.id] = device.malicious;
    }
  }
  const lab::ExperimentSettings& settings = demo.settings;
  const std::string title = "A fleet of " + std::to_string(demo.clients.size()) + " clients learns " +
                            settings.dataset + " under the attack " + settings.attack + ", guarded by " +
                            settings.guard;
  std::string html =
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><meta name='viewport' "
      "content='width=device-width, initial-scale=1'><title>" +
      lab::escape_html(title) + "</title><style>" + lab::report_style() + "</style></head><body>";
  html += "<h1>" + lab::escape_html(title) + "</h1>";
  html +=
      "<p class='lead'>AFLGuard Edge demo: a broker with mutual TLS 1.3, a gateway and client processes on "
      "one "
      "machine; every update was signed by its client, judged, and made durable before it was answered.</p>";
  if (!outcome.remark.empty()) html += "<p>" + lab::escape_html(outcome.remark) + "</p>";
  html += figures(demo, outcome) + "<div class='plots'>" +
          lab::svg(error_plot(evaluations, demo.test.regression())) +
          lab::svg(verdict_plot(verdicts, malicious)) + "</div><h2>Devices</h2>" +
          device_table(demo, progress);
  html += "<details><summary>Settings</summary><pre>" + lab::escape_html(lab::to_json(settings).dump(2)) +
          "</pre></details>";
  return html + "</body></html>\n";
}

}  // namespace aflguard::cli
