#include "lab/campaigns/grid_plan.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "core/aggregation/guards/all_guards.h"
#include "lab/attacks/all_attacks.h"
#include "lab/tasks/own_data.h"

namespace aflguard::lab {
namespace {

template <typename T>
Status check_list(std::string_view what, const std::vector<T>& list) {
  if (list.empty()) return invalid_input("a grid needs at least one " + std::string(what));
  if (std::set<T>(list.begin(), list.end()).size() < list.size()) {
    return invalid_input("a grid with the same " + std::string(what) + " twice");
  }
  return {};
}

/// Fit for a file's name: of a path its last part, letters, digits, - and . alone.
std::string file_word(const std::string& name) {
  std::string word = std::filesystem::path(name).filename().string();
  for (char& c : word) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '.' || c == '+';
    if (!fits) c = '_';
  }
  return word;
}

}  // namespace

bool wants_classes(std::string_view attack) {
  for (const AttackKind& kind : all_attacks()) {
    if (kind.name == attack) return kind.targeted || attack == "own-class";
  }
  return false;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

Result<Plan> plan_grid(const GridRequest& request) {
  TRY_STATUS(check_list("guard", request.guards));
  TRY_STATUS(check_list("attack", request.attacks));
  TRY_STATUS(check_list("data set", request.datasets));
  TRY_STATUS(check_list("malicious fraction", request.malicious));
  Plan plan{PlanKind::kGrid, "grid", "Guards against attacks", "malicious fraction", {}};
  std::set<std::string> ids;
  for (const std::string& dataset : request.datasets) {
    TRY(auto settings, default_settings(dataset));
    settings.seed = 0;
    if (is_own_data(dataset)) {
      TRY(settings.data_digest, own_data_digest(dataset));
    }
    if (request.adjust) request.adjust(settings);
    for (const std::string& attack : request.attacks) {
      if (dataset == "synthetic" && wants_classes(attack)) continue;
      for (const double malicious : request.malicious) {
        if (attack == "none" && malicious != request.malicious.front()) continue;
        for (const std::string& guard : request.guards) {
          PlannedCell cell;
          cell.settings = settings;
          cell.settings.attack = attack;
          cell.settings.guard = guard;
          cell.settings.malicious = malicious;
          cell.x = malicious;
          cell.id = file_word(dataset) + "-" + file_word(attack) + "-malicious" + short_number(malicious) +
                    "-" + file_word(guard);
          if (!ids.insert(cell.id).second) {
            return invalid_input("two cells of the grid are called '" + cell.id +
                                 "'; give files different names");
          }
          plan.cells.push_back(std::move(cell));
        }
      }
    }
  }
  if (plan.cells.empty()) return invalid_input("none of these attacks means anything on this data");
  return plan;
}

Result<Plan> plan_league(const PlanOverrides& overrides) {
  GridRequest request;
  for (const GuardKind& guard : all_guards()) {
    // A synchronous rule takes an answer of every client for each step: nothing to compare per update.
    const bool synchronous = guard.name == "sync-aflguard";
    if (overrides.guard ? guard.name == *overrides.guard : !synchronous) {
      request.guards.emplace_back(guard.name);
    }
  }
  if (overrides.guard && request.guards.empty()) request.guards = {*overrides.guard};
  request.attacks = {"none"};
  for (const AttackKind& attack : all_attacks()) request.attacks.emplace_back(attack.name);
  request.datasets = {"synthetic", "har"};
  if (overrides.dataset) request.datasets = {*overrides.dataset};
  request.malicious = {0.2, 0.45};
  if (overrides.malicious) request.malicious = {*overrides.malicious};
  request.adjust = [&](ExperimentSettings& settings) {
    if (overrides.iterations) settings.iterations = *overrides.iterations;
  };
  TRY(Plan plan, plan_grid(request));
  plan.kind = PlanKind::kLeague;
  plan.name = kLeagueName;
  plan.title = "League: every guard against every attack";
  return plan;
}

}  // namespace aflguard::lab
