#include <CLI/CLI.hpp>
#include <map>
#include <pybind11/stl.h>

#include "core/aggregation/guards/all_guards.h"
#include "lab/attacks/all_attacks.h"
#include "lab/runs/experiment.h"
#include "tools/aflguard/command_line.h"
#include "tools/aflguard/verbs/lab_verbs.h"
#include "tools/aflguard/wiring.h"
#include "tools/python/arrays.h"
#include "tools/python/parts.h"
#include "tools/python/python_attack.h"
#include "tools/python/python_guard.h"

namespace aflguard::python {
namespace {

using Makers = std::map<std::string, py::object>;

lab::Catalog catalog_with(const Makers& guards, const Makers& attacks) {
  lab::Catalog catalog = lab::full_catalog();
  for (const auto& [name, make] : guards) catalog.guards.push_back(python_guard_kind(name, make));
  for (const auto& [name, make] : attacks) catalog.attacks.push_back(python_attack_kind(name, make));
  return catalog;
}

/// The settings that a keyword of run() sets.
template <typename T>
bool set_if(const std::string& name, const char* wanted, const py::handle& value, T& setting) {
  if (name != wanted) return false;
  setting = value.cast<T>();
  return true;
}

void apply(const std::string& name, const py::handle& value, lab::ExperimentSettings& s) {
  const bool known =
      set_if(name, "seed", value, s.seed) || set_if(name, "clients", value, s.clients) ||
      set_if(name, "malicious", value, s.malicious) || set_if(name, "iterations", value, s.iterations) ||
      set_if(name, "batch_size", value, s.batch_size) ||
      set_if(name, "learning_rate", value, s.learning_rate) || set_if(name, "lambda_", value, s.lambda) ||
      set_if(name, "server_delay", value, s.server_delay) ||
      set_if(name, "client_delay", value, s.client_delay) ||
      set_if(name, "trusted_size", value, s.trusted_size) ||
      set_if(name, "distribution_shift", value, s.distribution_shift) ||
      set_if(name, "non_iid", value, s.non_iid) || set_if(name, "encoding", value, s.encoding) ||
      set_if(name, "guard_options", value, s.guard_options) ||
      set_if(name, "attack_options", value, s.attack_options);
  if (!known) throw py::value_error("run() has no setting '" + name + "'; see help(aflguard.run)");
}

py::object number(const std::optional<double>& value) {
  return value ? py::cast(*value) : py::none();
}

py::dict as_dict(const lab::ExperimentSettings& settings, const lab::ExperimentResult& result) {
  py::dict out;
  out["dataset"] = settings.dataset;
  out["guard"] = settings.guard;
  out["attack"] = settings.attack;
  out["seed"] = settings.seed;
  out["test_error"] = number(result.metrics.test_error);
  out["attack_success"] = number(result.metrics.attack_success);
  out["mse"] = number(result.metrics.mse);
  out["mee"] = number(result.metrics.mee);
  out["accepted"] =
      py::dict(py::arg("honest") = result.accepted.honest, py::arg("malicious") = result.accepted.malicious);
  out["rejected"] =
      py::dict(py::arg("honest") = result.rejected.honest, py::arg("malicious") = result.rejected.malicious);
  out["iterations"] = result.iterations;
  out["judging_seconds"] = result.judging_seconds;
  return out;
}

py::dict run_lab(const Makers& guards, const Makers& attacks, const std::string& dataset,
                 const std::string& guard, const std::string& attack, const py::dict& given) {
  const lab::Catalog catalog = catalog_with(guards, attacks);
  lab::ExperimentSettings settings = value_or_throw(lab::default_settings(dataset));
  settings.guard = guard;
  settings.attack = attack;
  for (const auto& [name, value] : given) apply(name.cast<std::string>(), value, settings);
  const auto play = [&]() -> Result<lab::ExperimentResult> {
    TRY(const cli::TrainerSource trainers, cli::load_trainers());
    TRY(const auto resources, lab::make_lab_resources(catalog, std::nullopt, trainers.make));
    TRY(auto data, resources.data(settings.dataset));
    TRY(const auto model, resources.model(settings.dataset));
    return lab::run_experiment(settings, catalog, model, std::move(data));
  };
  Result<lab::ExperimentResult> result = [&] {
    const py::gil_scoped_release unlock;
    return play();
  }();
  return as_dict(settings, value_or_throw(std::move(result)));
}

int run_program(const Makers& guards, const Makers& attacks, const std::vector<std::string>& arguments) {
  std::vector<const char*> argv;
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  CLI::App app("AFLGuard Edge's lab, with guards and attacks written in Python.", "aflguard");
  app.require_subcommand(1);
  cli::Action action;
  cli::add_lab_verbs(app, action, catalog_with(guards, attacks));
  const py::gil_scoped_release unlock;
  return cli::run_command_line(app, action, static_cast<int>(argv.size()), argv.data());
}

}  // namespace

void add_lab(py::module_& module) {
  module.def("run_lab", &run_lab);
  module.def("run_program", &run_program);
  module.def("guard_names", [] {
    std::vector<std::string> names;
    for (const GuardKind& kind : all_guards()) names.emplace_back(kind.name);
    return names;
  });
  module.def("attack_names", [] {
    std::vector<std::string> names = {"none"};
    for (const lab::AttackKind& kind : lab::all_attacks()) names.emplace_back(kind.name);
    return names;
  });
}

}  // namespace aflguard::python
