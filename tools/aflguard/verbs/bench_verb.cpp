#include "tools/aflguard/verbs/bench_verb.h"

#include <CLI/CLI.hpp>

#include "core/system/process.h"
#include "core/system/programs.h"

namespace aflguard::cli {

void add_bench_verb(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("bench", "Benchmarks, each beside a baseline measured in the same run");
  verb->set_help_flag();  // aflguard-bench has its own help
  verb->prefix_command();
  verb->callback([verb, &action] {
    action = [words = verb->remaining()]() -> Status {
      TRY(const auto program, program_beside_us("aflguard-bench"));
      return become_program(program, "aflguard bench", words);
    };
  });
}

}  // namespace aflguard::cli
