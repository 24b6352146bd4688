#include "lab/attacks/all_attacks.h"

#include <vector>

#define ATTACK_BESIDE(file, name) ATTACK(name)

namespace aflguard::lab {

#define ATTACK(name) [[nodiscard]] AttackKind name##_kind();
#include "lab/attacks/all_attacks.inc"
#undef ATTACK

std::span<const AttackKind> all_attacks() {
#define ATTACK(name) name##_kind(),
  static const std::vector<AttackKind> kinds = {
#include "lab/attacks/all_attacks.inc"
  };
#undef ATTACK
  return kinds;
}

}  // namespace aflguard::lab
