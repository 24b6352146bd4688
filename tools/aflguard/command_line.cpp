#include "tools/aflguard/command_line.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

namespace aflguard::cli {
namespace {

/// One line, whatever names a file brought into the message.
int report(const Error& error) {
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

int run_command_line(CLI::App& app, const Action& action, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    return refuse_command_line(app, problem);
  }
  try {
    const Status status = action();
    return status.ok() ? 0 : report(status.error());
  } catch (const std::exception& problem) {
    return report(internal_error(std::string("unexpected: ") + problem.what()));
  }
}

}  // namespace aflguard::cli
