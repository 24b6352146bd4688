#include "tools/aflguard/verbs/demo_verb.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "core/aggregation/guards/all_guards.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "tools/aflguard/demo/demo_local.h"
#include "tools/aflguard/demo/demo_run.h"

namespace aflguard::cli {
namespace {

struct DemoVerbOptions {
  DemoOptions demo;
  lab::LocalTrainingOptions training;
  bool local = false;
  int seconds = 60;
};

Status run(const DemoVerbOptions& options) {
  if (!options.local) {
    DemoOptions demo = options.demo;
    if (demo.fleet.attack == "none") demo.fleet.malicious = 0;
    return run_demo(demo);
  }
  lab::LocalTrainingOptions training = options.training;
  training.seed = options.demo.fleet.seed;
  training.duration = std::chrono::seconds(options.seconds);
  return run_local_demo(training, options.demo.json);
}

/// Those that a gateway can use: it has no rounds.
std::string gateway_guards() {
  std::string names;
  for (const GuardKind& kind : all_guards()) {
    const auto guard = make_guard(kind, {.dimension = 1, .clients = 2});
    if (!guard || (*guard)->needs().round > 1) continue;
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  return names;
}

void add_fleet_options(CLI::App* verb, DemoOptions& options) {
  verb->add_option("--clients", options.fleet.clients, "Client processes")
      ->check(CLI::Range(1, 200))
      ->capture_default_str();
  verb->add_option("--malicious", options.fleet.malicious, "How many of them are malicious")
      ->check(CLI::Range(0, 200))
      ->capture_default_str();
  verb->add_option("--attack", options.fleet.attack, "What those send: " + sim::attack_names() + ", none")
      ->capture_default_str();
  verb->add_option("--guard", options.fleet.guard,
                   "How the gateway judges: " + gateway_guards() + "; asyncsgd takes everything")
      ->capture_default_str();
  verb->add_option("--dataset", options.fleet.dataset,
                   "mnist, fashion-mnist, cifar-10, synthetic, har (30 clients), ...")
      ->capture_default_str();
  verb->add_option("--updates", options.fleet.updates,
                   "Stop after so many judged updates; otherwise as many as the data set needs")
      ->check(CLI::Range(1, 100'000'000));
  verb->add_option("--seed", options.fleet.seed,
                   "Seed of the first model, of the data's split and of the batches")
      ->capture_default_str();
  verb->add_option("-o,--output", options.output,
                   "A new folder for report, recording and logs; otherwise one in $TMPDIR or /var/tmp");
  verb->add_flag("!--no-recording", options.fleet.recording, "Do not keep updates for aflguard lab replay");
  verb->add_option("--recording-megabytes", options.fleet.recording_megabytes,
                   "How large the recording may grow; a whole run of MNIST has about 900")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  verb->add_flag("--json", options.json, "Print one JSON document at the end");
}

}  // namespace

void add_demo_verb(CLI::App& app, Action& action) {
  auto options = std::make_shared<DemoVerbOptions>();
  CLI::App* verb =
      app.add_subcommand("demo", "A fleet with lying clients learns on this machine, over TLS and MQTT");
  verb->footer(
      "Starts a broker, a gateway and client processes on loopback, shows them learn, stops everything, and "
      "leaves a\n"
      "report. Gets the data set first if it is not installed.\n\n"
      "Examples:\n"
      "  aflguard demo\n"
      "  aflguard demo --guard asyncsgd          the same without a guard: the attack wins\n"
      "  aflguard demo --clients 20 --malicious 4 --attack lf --updates 3000\n"
      "  aflguard demo --local --seconds 20      no fleet: one process trains alone");
  add_fleet_options(verb, options->demo);
  auto* local = verb->add_flag("--local", options->local, "No fleet: train the paper's CNN in this process");
  verb->add_option("--seconds", options->seconds, "With --local: how long to train")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str()
      ->needs(local);
  verb->add_option("--batch", options->training.batch, "With --local: samples per step")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str()
      ->needs(local);
  verb->add_option("--rate", options->training.rate, "With --local: learning rate on the mean gradient")
      ->check(CLI::PositiveNumber)
      ->capture_default_str()
      ->needs(local);
  verb->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace aflguard::cli
