#pragma once

#include <memory>

#include "core/learning/trainer.h"
#include "edge_client/training/local_training.h"
#include "edge_client/training/sample_source.h"
#include "firmware_sim/byzantine_client/attack.h"

namespace aflguard::sim {

/// Training that carries the attack out; borrows trainer and source. Errors as find_live_attack(), and
/// kInvalidInput for options that the attack does not have.
[[nodiscard]] Result<std::unique_ptr<edge::LocalTraining>> make_malicious_training(const AttackPlan& plan,
                                                                                   Trainer& trainer,
                                                                                   edge::SampleSource& source,
                                                                                   std::uint64_t seed);

}  // namespace aflguard::sim
