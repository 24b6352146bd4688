#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "core/base/version.h"
#include "lab/runs/experiment.h"
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

namespace {

/// One line, whatever names a file brought into the message.
int report(const aflguard::Error& error) {
  std::string line = error.message;
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') letter = ' ';
  }
  std::fprintf(stderr, "aflguard: %s\n", line.c_str());
  return 1;
}

/// CLI11 says only that a verb is missing when one is misspelt: name it.
int refuse_command_line(const CLI::App& app, const CLI::ParseError& problem) {
  const auto unknown = app.remaining(/*recurse=*/true);
  if (dynamic_cast<const CLI::RequiredError*>(&problem) == nullptr || unknown.empty() ||
      unknown.front().starts_with("-")) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  std::fprintf(stderr, "aflguard: unknown command '%s'; see --help\n", unknown.front().c_str());
  return 2;
}

}  // namespace

/// Exit codes: 0 done, 1 the verb failed (one line on stderr says why), 2 the command line is wrong.
int main(int argc, char** argv) {
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

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return refuse_command_line(app, problem);
  }
  try {
    const aflguard::Status status = action();
    return status.ok() ? 0 : report(status.error());
  } catch (const std::exception& problem) {
    return report(aflguard::internal_error(std::string("unexpected: ") + problem.what()));
  }
}
