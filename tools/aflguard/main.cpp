#include <CLI/CLI.hpp>

#include "core/base/version.h"
#include "lab/runs/experiment.h"
#include "tools/aflguard/command_line.h"
#include "tools/aflguard/python_program.h"
#include "tools/aflguard/verb.h"
#include "tools/aflguard/verbs/bench_verb.h"
#include "tools/aflguard/verbs/dashboard_verb.h"
#include "tools/aflguard/verbs/data_verbs.h"
#include "tools/aflguard/verbs/demo_verb.h"
#include "tools/aflguard/verbs/device_verbs.h"
#include "tools/aflguard/verbs/doctor_verb.h"
#include "tools/aflguard/verbs/fleet_verbs.h"
#include "tools/aflguard/verbs/image_verbs.h"
#include "tools/aflguard/verbs/lab_verbs.h"
#include "tools/aflguard/verbs/model_verbs.h"
#include "tools/aflguard/verbs/monitor_verbs.h"
#include "tools/aflguard/verbs/sim_verbs.h"

/// Exit codes: 0 done, 1 the verb failed (one line on stderr says why), 2 the command line is wrong.
int main(int argc, char** argv) {
  if (aflguard::cli::wants_python(argc, argv)) return aflguard::cli::run_in_python(argc, argv);
  CLI::App app("AFLGuard Edge: Byzantine-robust federated learning on fleets of small boards.", "aflguard");
  app.set_version_flag("--version", aflguard::kVersion);
  app.require_subcommand(1);
  aflguard::cli::Action action;
  // Each group of verbs lives in its own file: add_<group>_verbs(app, action).
  aflguard::cli::add_model_verbs(app, action);
  aflguard::cli::add_data_verbs(app, action);
  aflguard::cli::add_bench_verb(app, action);
  aflguard::cli::add_demo_verb(app, action);
  aflguard::cli::add_dashboard_verb(app, action);
  aflguard::cli::add_fleet_verbs(app, action);
  aflguard::cli::add_device_verbs(app, action);
  aflguard::cli::add_monitor_verbs(app, action);
  aflguard::cli::add_doctor_verb(app, action);
  aflguard::cli::add_sim_verbs(app, action);
  aflguard::cli::add_image_verbs(app, action);
  aflguard::cli::add_lab_verbs(app, action, aflguard::lab::full_catalog());

  return aflguard::cli::run_command_line(app, action, argc, argv);
}
