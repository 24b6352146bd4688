#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/envelope/envelope.h"
#include "core/envelope/messages.h"
#include "core/learning/trainer.h"
#include "edge_client/training/local_training.h"
#include "edge_client/training/sample_source.h"

namespace aflguard::sim {

/// What a Byzantine client sends instead of its honest update. It knows its own data, what the gateway tells
/// every device and perhaps the guard's trusted samples; nothing of other clients and nothing of the guard's
/// state: weaker than the lab's attackers, who see everything.
struct AttackPlan {
  std::string name = "gd";
  double lambda = 1.5;             ///< adapt-boundary: the guard's, as the attacker believes
  std::size_t trusted_size = 100;  ///< adapt-boundary: samples of the trusted set, as the attacker believes
  /// adapt-boundary: the guard's trusted samples, if they leaked. Null: the attacker takes its own for them.
  std::shared_ptr<const Dataset> trusted = {};
  /// adapt-boundary with leaked samples: the share of the guard's bound that it uses. The gateway compares
  /// with a reference of some updates ago, so an update on the very bound would often be outside.
  double reach = 0.8;
  /// adapt-boundary with leaked samples: how much of its earlier honest updates it keeps when a new one
  /// comes, to know where honest clients want to go. One mini-batch alone is mostly noise, and more of them
  /// at a time would make the attacker slower than the others.
  double memory = 0.97;
};

struct AttackSummary {
  std::string_view name;
  std::string_view meaning;
};

[[nodiscard]] std::span<const AttackSummary> known_attacks();
/// kInvalidInput, with the nearest name that exists, when there is none of that name.
[[nodiscard]] Status check_attack(std::string_view name);

/// Training that carries the attack out; borrows trainer and source.
[[nodiscard]] Result<std::unique_ptr<edge::LocalTraining>> make_malicious_training(const AttackPlan& plan,
                                                                                   Trainer& trainer,
                                                                                   edge::SampleSource& source,
                                                                                   std::uint64_t seed);

/// How the attack encodes updates: `nan` and `garbage` send under a valid signature what the product's own
/// encoder refuses to write.
[[nodiscard]] Result<Payload> malicious_encode(const AttackPlan& plan, const UpdateMessage& update);

}  // namespace aflguard::sim
