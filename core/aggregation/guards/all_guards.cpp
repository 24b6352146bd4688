#include "core/aggregation/guards/all_guards.h"

#include <vector>

#define GUARD_BESIDE(file, name) GUARD(name)

namespace aflguard {

#define GUARD(name) [[nodiscard]] GuardKind name##_kind();
#include "core/aggregation/guards/all_guards.inc"
#undef GUARD

std::span<const GuardKind> all_guards() {
#define GUARD(name) name##_kind(),
  static const std::vector<GuardKind> kinds = {
#include "core/aggregation/guards/all_guards.inc"
  };
#undef GUARD
  return kinds;
}

}  // namespace aflguard
