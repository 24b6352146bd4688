#include "firmware_sim/byzantine_client/attack.h"

#include <vector>

#include "core/base/nearest_name.h"
#include "lab/attacks/all_attacks.h"

namespace aflguard::sim {

Result<const lab::AttackKind*> find_live_attack(std::string_view name) {
  std::vector<std::string_view> names;
  for (const lab::AttackKind& kind : lab::all_attacks()) {
    const std::string_view missing = lab::missing_on_device(kind);
    if (kind.name == name && missing.empty()) return &kind;
    if (kind.name == name) {
      return invalid_input("attack '" + std::string(name) + "' needs " + std::string(missing));
    }
    if (missing.empty()) names.push_back(kind.name);
  }
  return invalid_input(unknown_name("attack", name, names));
}

Status check_attack(std::string_view name) {
  const auto found = find_live_attack(name);
  return found ? Status() : Status(found.error());
}

std::string attack_names() {
  std::string names;
  for (const lab::AttackKind& kind : lab::all_attacks()) {
    if (!lab::missing_on_device(kind).empty()) continue;
    names += (names.empty() ? "" : ", ") + std::string(kind.name);
  }
  return names;
}

std::string attack_list() {
  std::string live;
  std::string lab_only;
  for (const lab::AttackKind& kind : lab::all_attacks()) {
    const std::string_view missing = lab::missing_on_device(kind);
    std::string line = "\n  " + std::string(kind.name) + ": ";
    if (!missing.empty()) {
      lab_only += line + "needs " + std::string(missing);
      continue;
    }
    live += line + std::string(kind.on_device.empty() ? kind.summary : kind.on_device);
    for (const NamedOption& option : kind.options) {
      live += "\n    option " + std::string(option.name) + ": " + std::string(option.meaning);
    }
  }
  return live + "\nIn the lab only:" + lab_only;
}

}  // namespace aflguard::sim
