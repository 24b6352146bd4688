#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "bench/bench_verbs.h"
#include "lab/runs/experiment.h"

namespace {

/// One line, whatever names a file brought into the message.
int report(const std::string& program, std::string line) {
  for (char& letter : line) {
    if (static_cast<unsigned char>(letter) < ' ' || letter == '\x7f') letter = ' ';
  }
  std::fprintf(stderr, "%s: %s\n", program.c_str(), line.c_str());
  return 1;
}

}  // namespace

/// Exit codes: 0 done, 1 the benchmark failed (one line on stderr says why), 2 the command line is wrong.
int main(int argc, char** argv) {
  // `aflguard bench` runs this program under that name.
  const std::string name =
      argc > 0 ? std::filesystem::path(argv[0]).filename().string() : std::string("aflguard-bench");
  const std::string program = name.substr(0, name.find(' '));
  CLI::App app("Benchmarks, each beside a baseline measured in the same run", name);
  app.require_subcommand(1);
  aflguard::bench::Action action;
  aflguard::bench::add_bench_verbs(app, action, aflguard::lab::full_catalog());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const auto unknown = app.remaining(/*recurse=*/true);
    if (dynamic_cast<const CLI::RequiredError*>(&problem) == nullptr || unknown.empty() ||
        unknown.front().starts_with("-")) {
      return app.exit(problem) == 0 ? 0 : 2;
    }
    report(program, "unknown command '" + unknown.front() + "'; see --help");
    return 2;
  }
  try {
    const aflguard::Status status = action();
    return status.ok() ? 0 : report(program, status.error().message);
  } catch (const std::exception& problem) {
    return report(program, std::string("unexpected: ") + problem.what());
  }
}
