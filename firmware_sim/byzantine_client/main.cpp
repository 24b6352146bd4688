#include <CLI/CLI.hpp>

#include "core/config/dataset_section.h"
#include "edge_client/client_program.h"
#include "firmware_sim/byzantine_client/attack.h"
#include "firmware_sim/byzantine_client/malicious_encode.h"
#include "firmware_sim/byzantine_client/malicious_training.h"

namespace {

using namespace aflguard;
using sim::AttackPlan;

void add_options(CLI::App& app, AttackPlan& plan, std::string& trusted) {
  app.add_option("--attack", plan.name, "What to send:" + sim::attack_list())
      ->check([](const std::string& name) {
        const Status known = sim::check_attack(name);
        return known.ok() ? std::string() : known.error().message;
      })
      ->capture_default_str();
  app.add_option_function<std::vector<std::string>>(
      "--attack-option",
      [&plan](const std::vector<std::string>& pairs) {
        const auto options = parse_options(pairs);
        if (!options) throw CLI::ValidationError("--attack-option", options.error().message);
        plan.options = *options;
      },
      "NAME=NUMBER for the attack, may be repeated");
  app.add_option("--lambda", plan.lambda, "adapt-boundary: the guard's lambda")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--trusted-size", plan.trusted_size, "adapt-boundary: samples in the guard's trusted set")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--trusted", trusted,
                 "adapt-boundary: a TOML file whose section [trusted] says where the guard's trusted samples "
                 "lie, with the keys of gateway.toml, for an attacker who got hold of them")
      ->check(CLI::ExistingFile);
  app.add_option("--reach", plan.reach, "adapt-boundary with --trusted: the share of the bound that it uses")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_option("--memory", plan.memory,
                 "adapt-boundary with --trusted: how much of its earlier honest updates it remembers")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

/// The guard's samples, when the attacker was given them.
Status read_trusted(const std::string& path, const ModelDescription& model, AttackPlan& plan) {
  if (path.empty()) return {};
  TRY(auto file, ConfigFile::read(path));
  auto section = file.table("trusted");
  const DatasetFiles files = read_dataset_files(section);
  TRY_STATUS(file.finish());
  TRY(auto samples, load_dataset(files, model));
  plan.trusted = std::make_shared<const Dataset>(std::move(samples));
  return {};
}

}  // namespace

/// The product's client with another idea of what to send: same engine, same certificate, same signature.
int main(int argc, char** argv) {
  AttackPlan plan;
  std::string trusted;
  return edge::run_client_program(
      {.name = "aflguard-byzantine-client",
       .about = "A malicious device, for simulations: an honest client's program with a false update.",
       .add_options = [&](CLI::App& app) { add_options(app, plan, trusted); },
       .make_training =
           [&](const edge::TrainingContext& context) -> Result<std::unique_ptr<edge::LocalTraining>> {
         TRY_STATUS(read_trusted(trusted, context.trainer.model(), plan));
         return sim::make_malicious_training(plan, context.trainer, context.source, context.seed);
       },
       .encode = [&plan](const UpdateMessage& update) { return sim::malicious_encode(plan, update); }},
      argc, argv);
}
