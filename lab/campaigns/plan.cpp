#include "lab/campaigns/plan.h"

#include <cstdio>

#include "core/base/nearest_name.h"
#include "core/base/sha256.h"
#include "lab/campaigns/grid_plan.h"

namespace aflguard::lab {
namespace {

const std::vector<std::string_view> kAllGuards = {"asyncsgd", "kardam", "basgd", "zeno++", "aflguard"};
const std::vector<std::string_view> kTrustedGuards = {"zeno++", "aflguard"};
const std::vector<std::string_view> kRegressionAttacks = {"none", "lf", "gauss", "gd", "adapt-reverse"};
const std::vector<std::string_view> kAllAttacks = {"none", "lf", "gauss", "gd", "bd", "adapt-reverse"};
const std::vector<std::string_view> kWhiteBoxGuards = {"asyncsgd", "zeno++", "aflguard", "span-guard"};
const std::vector<std::string_view> kWhiteBoxAttacks = {"none",
                                                        "lf",
                                                        "gauss",
                                                        "gd",
                                                        "bd",
                                                        "adapt-reverse",
                                                        "adapt-fang",
                                                        "adapt-sign",
                                                        "adapt-boundary",
                                                        "own",
                                                        "own-blind",
                                                        "own-fixed",
                                                        "own-alternating",
                                                        "own-noise",
                                                        "own-late",
                                                        "own-class"};
const std::vector<std::string_view> kAdaptiveAttacks = {"none", "adapt-reverse", "adapt-fang", "adapt-sign",
                                                        "adapt-boundary"};

struct TableShape {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> datasets;
  std::vector<std::string_view> attacks;
  std::vector<std::string_view> guards;
  std::vector<double> values;                      ///< of what the table varies; empty: nothing
  std::string_view varies = "distribution shift";  ///< or "malicious fraction"
};

const std::vector<TableShape>& tables() {
  static const std::vector<TableShape> shapes = {
      {"1", "Table 1: errors on synthetic data", {"synthetic"}, kRegressionAttacks, kAllGuards, {}},
      {"2a", "Table 2a: test errors on MNIST", {"mnist"}, kAllAttacks, kAllGuards, {}},
      {"2b", "Table 2b: test errors on Fashion-MNIST", {"fashion-mnist"}, kAllAttacks, kAllGuards, {}},
      {"2c", "Table 2c: test errors on HAR", {"har"}, kAllAttacks, kAllGuards, {}},
      {"2d", "Table 2d: test errors on colorectal histology", {"colorectal"}, kAllAttacks, kAllGuards, {}},
      {"2e", "Table 2e: test errors on CIFAR-10", {"cifar-10"}, kAllAttacks, kAllGuards, {}},
      {"3",
       "Table 3: distribution shift of the trusted set, MNIST",
       {"mnist"},
       kAllAttacks,
       kTrustedGuards,
       {0.1, 0.5, 0.6, 0.8, 1.0}},
      {"5a",
       "Table 5a: distribution shift, Fashion-MNIST",
       {"fashion-mnist"},
       kAllAttacks,
       kTrustedGuards,
       {0.1, 0.5, 0.6, 0.8, 1.0}},
      {"5b",
       "Table 5b: distribution shift, HAR",
       {"har"},
       kAllAttacks,
       kTrustedGuards,
       {0.167, 0.5, 0.6, 0.8, 1.0}},
      {"5c",
       "Table 5c: distribution shift, colorectal histology",
       {"colorectal"},
       kAllAttacks,
       kTrustedGuards,
       {0.125, 0.5, 0.6, 0.8, 1.0}},
      {"5d",
       "Table 5d: distribution shift, CIFAR-10",
       {"cifar-10"},
       kAllAttacks,
       kTrustedGuards,
       {0.1, 0.5, 0.6, 0.8, 1.0}},
      // Not in the paper: attackers who know the rule.
      {"adaptive",
       "Adaptive attacks that know AFLGuard's rule",
       {"synthetic", "mnist", "har"},
       kAdaptiveAttacks,
       kAllGuards,
       {}},
      {"white-box",
       "Attackers who know the guard, its state and its trusted data",
       {"synthetic", "har", "mnist"},
       kWhiteBoxAttacks,
       kWhiteBoxGuards,
       {0.2, 0.45},
       "malicious fraction"},
  };
  return shapes;
}

struct FigureShape {
  std::string_view name;
  std::string_view title;
  std::vector<std::string_view> guards;
  std::vector<double> values;
  void (*set)(ExperimentSettings& settings, double value);
};

const std::vector<FigureShape>& figures() {
  static const std::vector<FigureShape> shapes = {
      {"malicious-fraction",
       "Fraction of malicious clients",
       kAllGuards,
       {0, 0.1, 0.2, 0.3, 0.4, 0.45},
       [](ExperimentSettings& s, double v) { s.malicious = v; }},
      {"clients",
       "Number of clients",
       kAllGuards,
       {50, 100, 200, 300, 400, 500},
       [](ExperimentSettings& s, double v) { s.clients = static_cast<std::size_t>(v); }},
      {"client-delay",
       "Largest client delay",
       kAllGuards,
       {5, 10, 20, 30, 40, 50},
       [](ExperimentSettings& s, double v) { s.client_delay = static_cast<std::uint64_t>(v); }},
      {"server-delay",
       "Server delay",
       kTrustedGuards,
       {10, 40, 80, 120, 160, 200},
       [](ExperimentSettings& s, double v) { s.server_delay = static_cast<std::uint64_t>(v); }},
      {"lambda",
       "AFLGuard's lambda",
       {"aflguard"},
       {0.5, 1.0, 1.5, 2.0, 3.0, 5.0},
       [](ExperimentSettings& s, double v) { s.lambda = v; }},
      {"trusted-size",
       "Size of the trusted data set",
       {"aflguard"},
       {50, 100, 200, 300, 400},
       [](ExperimentSettings& s, double v) { s.trusted_size = static_cast<std::size_t>(v); }},
  };
  return shapes;
}

/// The paper calls the adaptive attack "adapt"; of its readings, this one fits what it prints.
bool is_paper_attack(std::string_view paper, std::string_view ours) {
  return paper == ours || (paper == "adapt" && ours == "adapt-reverse");
}

std::vector<PrintedNumber> printed(std::string_view table, std::optional<double> shift,
                                   const ExperimentSettings& settings) {
  std::vector<PrintedNumber> found;
  for (const PaperNumber& number : paper_numbers()) {
    if (number.table != table || number.dataset != settings.dataset || number.guard != settings.guard) {
      continue;
    }
    if (!is_paper_attack(number.attack, settings.attack)) continue;
    if (shift && number.distribution_shift != *shift) continue;
    found.push_back({number.metric, number.value, number.more_than});
  }
  return found;
}

/// The plan's guards, or the one that a user chose.
std::vector<std::string_view> guards_of(const std::vector<std::string_view>& planned,
                                        const PlanOverrides& overrides) {
  return overrides.guard ? std::vector<std::string_view>{*overrides.guard} : planned;
}

Result<ExperimentSettings> cell_settings(std::string_view dataset, std::string_view attack,
                                         std::string_view guard, const PlanOverrides& overrides) {
  TRY(auto settings, default_settings(dataset));
  settings.attack = attack;
  settings.guard = guard;
  settings.seed = 0;
  if (overrides.iterations) settings.iterations = *overrides.iterations;
  return settings;
}

}  // namespace

std::string Plan::id() const {
  if (kind == PlanKind::kGrid) return name;
  return (kind == PlanKind::kFigure ? "figure-" : "table-") + name;
}

const std::vector<std::string_view>& table_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const TableShape& shape : tables()) all.push_back(shape.name);
    all.emplace_back(kLeagueName);
    return all;
  }();
  return names;
}

const std::vector<std::string_view>& figure_names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const FigureShape& shape : figures()) all.push_back(shape.name);
    return all;
  }();
  return names;
}

Result<Plan> plan_table(std::string_view name, const PlanOverrides& overrides) {
  if (name == kLeagueName) return plan_league(overrides);
  for (const TableShape& shape : tables()) {
    if (shape.name != name) continue;
    Plan plan{PlanKind::kTable, std::string(shape.name), std::string(shape.title), {}, {}};
    if (!shape.values.empty()) plan.x_name = shape.varies;
    const bool by_shift = shape.varies == "distribution shift";
    std::vector<std::optional<double>> values(shape.values.begin(), shape.values.end());
    if (overrides.malicious && by_shift) {
      return invalid_input("table '" + std::string(shape.name) + "' does not vary the malicious fraction");
    }
    if (overrides.malicious) {
      std::erase_if(values, [&](const auto& value) { return value != overrides.malicious; });
      if (values.empty()) {
        return invalid_input("table '" + std::string(shape.name) + "' has no malicious fraction " +
                             short_number(*overrides.malicious));
      }
    }
    if (values.empty()) values.emplace_back();
    for (const std::string_view dataset : shape.datasets) {
      if (overrides.dataset && dataset != *overrides.dataset) continue;
      for (const std::string_view attack : shape.attacks) {
        if (dataset == "synthetic" && wants_classes(attack)) continue;
        for (const std::optional<double> value : values) {
          // Without an attack no client is malicious, whatever the fraction.
          if (!by_shift && attack == "none" && value != values.front()) continue;
          for (const std::string_view guard : guards_of(shape.guards, overrides)) {
            PlannedCell cell;
            TRY(cell.settings, cell_settings(dataset, attack, guard, overrides));
            if (value && by_shift) cell.settings.distribution_shift = *value;
            if (value && !by_shift) cell.settings.malicious = *value;
            cell.x = value;
            cell.id = (shape.datasets.size() > 1 ? std::string(dataset) + "-" : "") + std::string(attack) +
                      (value ? (by_shift ? "-shift" : "-malicious") + short_number(*value) : "") + "-" +
                      std::string(guard);
            cell.paper = printed(name, value, cell.settings);
            plan.cells.push_back(std::move(cell));
          }
        }
      }
    }
    if (plan.cells.empty()) {
      const std::vector<std::string_view> datasets(shape.datasets);
      return invalid_input("table '" + plan.name +
                           "': " + unknown_name("data set", *overrides.dataset, datasets));
    }
    return plan;
  }
  return invalid_input(unknown_name("table", name, table_names()));
}

Result<Plan> plan_figure(std::string_view name, const PlanOverrides& overrides) {
  const std::string dataset = overrides.dataset.value_or("mnist");
  for (const FigureShape& shape : figures()) {
    if (shape.name != name) continue;
    TRY(const LabDataset* known, find_lab_dataset(dataset));
    const std::string title = std::string(shape.title) + ", " + std::string(known->title);
    Plan plan{PlanKind::kFigure, std::string(shape.name), title, std::string(shape.title), {}};
    for (const std::string_view attack : dataset == "synthetic" ? kRegressionAttacks : kAllAttacks) {
      // Without an attack, no client is malicious: that point is the fraction 0 of every other curve.
      if (name == "malicious-fraction" && attack == "none") continue;
      for (const double value : shape.values) {
        for (const std::string_view guard : guards_of(shape.guards, overrides)) {
          PlannedCell cell;
          TRY(cell.settings, cell_settings(dataset, attack, guard, overrides));
          shape.set(cell.settings, value);
          cell.x = value;
          cell.id = std::string(attack) + "-" + short_number(value) + "-" + std::string(guard);
          plan.cells.push_back(std::move(cell));
        }
      }
    }
    return plan;
  }
  return invalid_input(unknown_name("figure", name, figure_names()));
}

std::string fingerprint(const Plan& plan) {
  std::string all = plan.id();
  for (const PlannedCell& cell : plan.cells) all += "\n" + cell.id + " " + fingerprint(cell.settings);
  return sha256_hex(all);
}

}  // namespace aflguard::lab
