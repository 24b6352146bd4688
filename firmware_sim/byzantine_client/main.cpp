#include <CLI/CLI.hpp>

#include "edge_client/client_program.h"
#include "firmware_sim/byzantine_client/attack.h"

namespace {

using namespace aflguard;
using firmware_sim::AttackPlan;

std::string attack_list() {
  std::string text = "What to send:";
  for (const auto& [name, meaning] : firmware_sim::known_attacks()) {
    text += "\n  " + std::string(name) + ": " + std::string(meaning);
  }
  return text;
}

void add_options(CLI::App& app, AttackPlan& plan) {
  app.add_option("--attack", plan.name, attack_list())
      ->check([](const std::string& name) {
        const Status known = firmware_sim::check_attack(name);
        return known.ok() ? std::string() : known.error().message;
      })
      ->capture_default_str();
  app.add_option("--lambda", plan.lambda, "adapt-boundary: the guard's lambda")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--trusted-size", plan.trusted_size, "adapt-boundary: samples in the guard's trusted set")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace

/// The product's client with a hostile idea of what to send: same engine, same certificate, same signature.
int main(int argc, char** argv) {
  AttackPlan plan;
  return run_client_program(
      {.name = "aflguard-byzantine-client",
       .about = "A device that lies, for simulations: an honest client's program with a hostile update.",
       .add_options = [&plan](CLI::App& app) { add_options(app, plan); },
       .make_training =
           [&plan](const TrainingContext& context) {
             return firmware_sim::make_hostile_training(plan, context.trainer, context.source, context.seed);
           },
       .encode = [&plan](const UpdateMessage& update) { return firmware_sim::hostile_encode(plan, update); }},
      argc, argv);
}
