#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tools/aflguard/bench_verbs.h"
#include "tools/aflguard/data_verbs.h"
#include "tools/aflguard/demo_verb.h"
#include "tools/aflguard/model_verbs.h"
#include "tools/aflguard/verb.h"

namespace {

int report(const aflguard::Error& error) {
  std::fprintf(stderr, "aflguard: %s\n", error.message.c_str());
  return 1;
}

}  // namespace

/// Exit codes: 0 done, 1 the verb failed (one line on stderr says why), 2 the command line is wrong.
int main(int argc, char** argv) {
  CLI::App app("AFLGuard Edge: Byzantine-robust federated learning on fleets of small boards.", "aflguard");
  app.set_version_flag("--version", AFLGUARD_VERSION);
  app.require_subcommand(1);
  aflguard::tools::Action action;
  // Each group of verbs lives in its own file: add_<group>_verbs(app, action).
  aflguard::tools::add_model_verbs(app, action);
  aflguard::tools::add_data_verbs(app, action);
  aflguard::tools::add_bench_verbs(app, action);
  aflguard::tools::add_demo_verb(app, action);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return app.exit(problem) == 0 ? 0 : 2;
  }
  try {
    const aflguard::Status status = action();
    return status.ok() ? 0 : report(status.error());
  } catch (const std::exception& problem) {
    return report(aflguard::internal_error(std::string("unexpected: ") + problem.what()));
  }
}
