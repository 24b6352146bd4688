#include "tools/aflguard/verbs/doctor_verb.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>

#include "fleet/doctor/doctor.h"
#include "tools/aflguard/wiring.h"

namespace aflguard::cli {
namespace {

struct DoctorOptions {
  fleet::DoctorRequest request;
  bool json = false;
};

Status examine(const DoctorOptions& options) {
  const fleet::Findings findings = fleet::examine(options.request, SystemClock(), viewer_bus());
  const char* const no_colour = std::getenv("NO_COLOR");
  const bool colour = ::isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
  std::printf("%s\n", options.json ? fleet::findings_document(findings).c_str()
                                   : fleet::findings_text(findings, colour).c_str());
  std::fflush(stdout);
  const std::size_t problems = findings.count(fleet::FindingLevel::kProblem);
  if (problems == 0) return {};
  return unavailable("the doctor found " + std::to_string(problems) + " problem" +
                     (problems == 1 ? "" : "s"));
}

}  // namespace

void add_doctor_verb(CLI::App& app, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = app.add_subcommand("doctor", "Look for what is wrong, and say what to do");
  verb->add_option("--fleet", options->request.fleet, "A fleet's folder: its files, broker and gateway too")
      ->envname("AFLGUARD_FLEET");
  verb->add_option("--client-config", options->request.client,
                   "A board's client.toml, and everything that it names");
  verb->add_flag("--json", options->json, "Print one JSON document");
  verb->footer(
      "Changes nothing. Exit code 0 when there is no problem (warnings may be), 1 otherwise.\n\n"
      "Examples:\n  aflguard doctor\n  aflguard doctor --fleet greenhouse --json\n"
      "  aflguard doctor --client-config /etc/aflguard/client.toml");
  verb->callback([options, &action] { action = [options] { return examine(*options); }; });
}

}  // namespace aflguard::cli
