#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/bench_verbs.h"
#include "core/aggregation/guards/aflguard.h"
#include "core/aggregation/guards/async_sgd.h"
#include "core/aggregation/guards/basgd.h"
#include "core/aggregation/guards/kardam.h"
#include "core/aggregation/guards/span_guard.h"
#include "core/aggregation/guards/sync_aflguard.h"
#include "core/aggregation/guards/zeno_plus_plus.h"
#include "core/base/version.h"
#include "lab/attacks/attacks.h"
#include "tools/aflguard/verb.h"
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
  std::fprintf(stderr, "aflguard: '%s' is no verb here; run with --help for those that are\n",
               unknown.front().c_str());
  return 2;
}

/// Every guard and attack this program knows: a new one is its own file and one line here.
aflguard::lab::Catalog lab_catalog() {
  using namespace aflguard;
  lab::Catalog catalog = {.guards =
                              {
                                  async_sgd_kind(),
                                  kardam_kind(),
                                  basgd_kind(),
                                  zeno_plus_plus_kind(),
                                  aflguard_kind(),
                                  sync_aflguard_kind(),
                                  span_guard_kind(),
                              },
                          .attacks = {
                              lab::label_flip_kind(),
                              lab::gauss_kind(),
                              lab::gradient_deviation_kind(),
                              lab::backdoor_kind(),
                              lab::adapt_reverse_kind(),
                              lab::adapt_fang_kind(),
                              lab::adapt_sign_kind(),
                              lab::adapt_boundary_kind(),
                          }};
  for (const auto& family : {lab::own_kinds(), lab::nuisance_kinds()}) {
    catalog.attacks.insert(catalog.attacks.end(), family.begin(), family.end());
  }
  return catalog;
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
  aflguard::bench::add_bench_verbs(app, action, lab_catalog());
  aflguard::cli::add_demo_verb(app, action);
  aflguard::cli::add_dashboard_verb(app, action);
  aflguard::cli::add_fleet_verbs(app, action);
  aflguard::cli::add_device_verbs(app, action);
  aflguard::cli::add_monitor_verbs(app, action);
  aflguard::cli::add_doctor_verb(app, action);
  aflguard::cli::add_sim_verbs(app, action);
  aflguard::cli::add_image_verbs(app, action);
  aflguard::cli::add_lab_verbs(app, action, lab_catalog());

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
