#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/named_options.h"
#include "core/base/result.h"
#include "lab/attacks/attack.h"

namespace aflguard::sim {

/// What a malicious device sends instead of its honest update, and what it knows besides its own samples and
/// what the gateway sends to every device: less than the lab's attackers, who see everything.
struct AttackPlan {
  std::string name = "gd";
  double lambda = 1.5;             ///< the guard's, as the attacker believes
  std::size_t trusted_size = 100;  ///< samples of the trusted set, as the attacker believes
  /// The guard's trusted samples, if they leaked. Null: the attacker takes its own for them.
  std::shared_ptr<const Dataset> trusted = {};
  double reach = 0.8;         ///< lab::AttackSettings::reach
  double memory = 0.97;       ///< lab::AttackSettings::memory
  OptionValues options = {};  ///< the attack's own
};

/// The attack of lab::all_attacks() with that name. kInvalidInput, with the nearest name that exists, when
/// there is none, and when it needs what a live device does not have.
[[nodiscard]] Result<const lab::AttackKind*> find_live_attack(std::string_view name);
[[nodiscard]] Status check_attack(std::string_view name);

/// Those that a live device can carry out: "lf, gauss, ...".
[[nodiscard]] std::string attack_names();
/// One line for each attack: what it does on a device, or what a live device lacks for it.
[[nodiscard]] std::string attack_list();

}  // namespace aflguard::sim
