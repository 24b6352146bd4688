#include "lab/attacks/attack.h"

#include "core/base/nearest_name.h"

namespace aflguard::lab {

Result<const AttackKind*> find_attack(std::span<const AttackKind> kinds, std::string_view name) {
  if (name == "none") return nullptr;
  std::vector<std::string_view> names = {"none"};
  for (const AttackKind& kind : kinds) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  return invalid_input(unknown_name("attack", name, names));
}

std::string_view missing_on_device(const AttackKind& kind) {
  if (kind.make_on_device != nullptr) return "";
  if (kind.needs.new_identity) return "a new identity for every update, which certificates prevent";
  if (kind.needs.oldest_base)
    return "the choice of the model that it answers, which the client does not give";
  if (kind.needs.guard) return "the guard's state, which a live device does not see";
  if (kind.needs.reference) return "the gateway's reference update, which a live device does not see";
  if (kind.needs.honest_updates) return "the updates of the honest devices, which a live device does not see";
  if (kind.needs.fleet_size) return "the number of devices, which a live device does not know";
  return "";
}

}  // namespace aflguard::lab
