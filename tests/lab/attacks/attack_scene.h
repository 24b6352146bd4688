#pragma once

#include <cmath>

#include "core/aggregation/vectors/vector_kernels.h"
#include "lab/attacks/all_attacks.h"
#include "lab/runs/all_knowing_view.h"
#include "tests/lab/linear_trainer.h"
#include "tests/support/test.h"

namespace aflguard::testing {

/// Ten clients on synthetic data, the first two malicious, and a reference at theta = 0.
struct Scene {
  ExperimentSettings settings = default_settings("synthetic").value();
  ExperimentData data;
  std::vector<ClientId> honest = {2, 3, 4, 5, 6, 7, 8, 9};
  LinearTrainer trainer{100};
  Random random{5};
  std::vector<float> theta = std::vector<float>(100);
  std::vector<float> update = std::vector<float>(100);
  ReferenceUpdate reference;

  OptionValues options;
  double lambda = 1.5;

  explicit Scene(const OptionValues& chosen = {}) : options(chosen) {
    settings.clients = 10;
    data = prepare_data(settings, nullptr).value();
    TrustedSetReference source(trainer, data.trusted, 0.5);
    TEST_ASSERT_TRUE(source.compute(theta, 0, reference).ok());
  }

  std::unique_ptr<Attack> make(std::string_view name) const {
    AttackSettings attack{
        .lambda = lambda, .devices = 10, .malicious = 2, .honest_sample = 8, .options = options};
    return find_attack(all_attacks(), name).value()->make(attack);
  }

  std::vector<float> craft(Attack& attack) {
    HonestClients clients(data, settings.batch_size, trainer, 0.5);
    AllKnowingView view(clients, honest, theta, random);
    view.client = 1;
    view.reference = &reference;
    ASSERT_OK(attack.craft(view, update));
    return update;
  }

  std::vector<float> craft(std::string_view name) { return craft(*make(name)); }

  /// What the device would send, from the same draw as the next craft().
  std::vector<float> honest_update() {
    Random copy = random;
    HonestClients clients(data, settings.batch_size, trainer, 0.5);
    ASSERT_OK(clients.update_of(1, theta, copy, update));
    return update;
  }
};

}  // namespace aflguard::testing
