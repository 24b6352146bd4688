#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/named_options.h"
#include "core/base/result.h"
#include "lab/attacks/craft/attacker_view.h"

namespace aflguard::lab {

/// What an attack is made from: what the attacker believes or was told about the fleet.
struct AttackSettings {
  double lambda = 1.5;            ///< AFLGuard's tolerance
  std::size_t devices = 0;        ///< of the fleet; 0: not known
  std::size_t malicious = 0;      ///< of them; 0: not known
  std::size_t honest_sample = 0;  ///< honest devices that an all-knowing attacker averages over in one turn
  std::uint64_t iterations = 0;   ///< of the run; 0: not known
  std::uint64_t reference_interval = 0;  ///< updates between two references; 0: not known
  std::int64_t target = 0;               ///< class that a targeted attack wants
  std::size_t trusted_size = 100;        ///< samples of the guard's trusted set
  /// On a device that has the trusted samples: the share of the guard's bound that it uses. The gateway
  /// compares with a reference of some updates ago, so an update on the very bound would often be outside.
  double reach = 0.8;
  /// On a device that has the trusted samples: how much of its earlier honest updates it keeps when a new one
  /// comes, to know where honest devices want to go. One mini-batch alone is mostly noise.
  double memory = 0.97;
  OptionValues options = {};  ///< the attack's own

  [[nodiscard]] double option(const std::string& name, double default_value) const {
    return option_or(options, name, default_value);
  }
};

/// What malicious devices send instead of honest updates. One object serves all malicious devices of a run.
class Attack {
 public:
  virtual ~Attack() = default;
  /// Fills `update` (dimension floats) with what the device sends.
  [[nodiscard]] virtual Status craft(AttackerView& view, std::span<float> update) = 0;
};

/// What an attack cannot do without and a live device does not have. The lab has everything.
struct AttackNeeds {
  bool honest_updates = false;  ///< fresh updates of the honest devices
  bool reference = false;       ///< the gateway's reference update
  bool guard = false;           ///< the guard's rule and state, and the reference if the guard has one
  bool fleet_size = false;      ///< how many devices there are
  bool oldest_base = false;     ///< answers the oldest model that the gateway still takes
  bool hidden_model = false;    ///< what rounding hides of the model from devices
  bool new_identity = false;    ///< comes under a client number that was never seen before, every time
};

using MakeAttack = std::function<std::unique_ptr<Attack>(const AttackSettings& settings)>;
using DamageMessage = void (*)(std::span<std::byte> message, std::uint64_t sequence);

/// An attack by name. Each attack's source offers its own; all_attacks.h lists them.
struct AttackKind {
  std::string_view name;
  std::string_view summary;
  AttackNeeds needs = {};
  bool targeted = false;  ///< wants a class predicted where its trigger is: classification only
  std::vector<NamedOption> options = {};
  MakeAttack make = {};

  // On a live device.
  /// How it does with less than `needs`, or otherwise than in the lab; null: as `make`, if nothing is
  /// missing.
  MakeAttack make_on_device = {};
  std::string_view on_device = {};  ///< what it is then; with `make_on_device` only
  /// The device computes its honest update before each answer, asked for or not: it is as slow as the others.
  bool trains_first = true;
  bool not_finite = false;         ///< sends numbers that the product's encoder refuses to write
  DamageMessage damage = nullptr;  ///< changes the encoded message before it is signed
};

/// Null for "none"; kInvalidInput, with the nearest name that exists, when there is none of that name.
[[nodiscard]] Result<const AttackKind*> find_attack(std::span<const AttackKind> kinds, std::string_view name);

/// What keeps a live device from this attack, as in "attack 'own' needs ..."; empty when nothing does.
[[nodiscard]] std::string_view missing_on_device(const AttackKind& kind);

}  // namespace aflguard::lab
