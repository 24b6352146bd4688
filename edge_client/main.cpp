#include "edge_client/client_program.h"
#include "edge_client/training/gradient_training.h"

namespace {

aflguard::Result<std::unique_ptr<aflguard::edge::LocalTraining>> honest_training(
    const aflguard::edge::TrainingContext& context) {
  return std::unique_ptr<aflguard::edge::LocalTraining>(std::make_unique<aflguard::edge::GradientTraining>(
      context.trainer, context.source, context.seed, aflguard::edge::HeldBack(context.config.hold_back)));
}

}  // namespace

int main(int argc, char** argv) {
  return aflguard::edge::run_client_program(
      {.name = "aflguard-client",
       .about = "A device of an AFLGuard fleet: trains on its own samples and sends signed updates.",
       .make_training = honest_training},
      argc, argv);
}
